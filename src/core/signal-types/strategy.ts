import { z } from 'zod'
import { DIRECTIONS, numberIn, symbol, weightedType } from './declare.ts'

/** The call of a strategy, recorded with each trade that it proposes: it is judged as any other author is. */
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
    const side = { bullish: 1, bearish: -1, neutral: 0 }[String(payload['direction'])] ?? null
    return { call: conviction === null || side === null ? null : (side * conviction) / 100 }
  },
})

export const STRATEGY_TYPE = strategy.type
