import { z } from 'zod'
import { DIRECTIONS, numberIn, symbol, weightedType } from './declare.ts'

/** Call of a strategy, recorded with each trade that it proposes. It is judged like the call of any other author. */
export const strategy = weightedType({
  name: 'strategy',
  domain: 'technical',
  producer: null,
  payload: z.looseObject({
    symbol,
    direction: z.enum(DIRECTIONS),
    conviction: z.number().min(0).max(100),
    rationale: z.string().max(1000).optional(),
  }),
  settings: null,
  partsOf: (payload) => {
    const conviction = numberIn(payload, 'conviction')
    if (conviction === null) return { call: null }
    switch (payload['direction']) {
      case 'bullish':
        return { call: conviction / 100 }
      case 'bearish':
        return { call: -conviction / 100 }
      default:
        return { call: payload['direction'] === 'neutral' ? 0 : null }
    }
  },
})

export const STRATEGY_TYPE = strategy.type
