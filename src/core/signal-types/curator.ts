import { z } from 'zod'
import type { JsonObject } from '../shared/json.ts'
import { DIRECTIONS, numberIn, scale, settingsOf, symbol, weightedType } from './declare.ts'

export const curatorPayload = z.looseObject({
  symbol: symbol.optional(),
  direction: z.enum(DIRECTIONS).optional(),
  conviction: z.number().min(0).max(10).optional(),
  rationale: z.string().max(20_000).optional(),
})

/** The opinion of a contributor. Only contributors may send it. */
export const curator = weightedType({
  name: 'curator',
  domain: 'curator',
  producer: { name: 'curator-intel', schedule: null },
  payload: curatorPayload,
  settings: settingsOf('curator', { conviction_scale: scale(10, 'conviction for full evidence') }),
  partsOf: (payload, settings) => ({ call: callIn(payload, settings.conviction_scale) }),
})

export const CURATOR_TYPE = curator.type

const callIn = (payload: JsonObject, convictionScale: number): number | null => {
  const direction = payload['direction']
  if (direction === 'neutral') return 0
  const conviction = numberIn(payload, 'conviction')
  if (conviction === null) return null
  if (direction === 'bullish') return Math.max(0, conviction) / convictionScale
  return direction === 'bearish' ? -Math.max(0, conviction) / convictionScale : null
}
