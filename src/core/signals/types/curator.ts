import type { JsonObject } from '../../shared/json.ts'
import { numberIn, type Reader } from './reader.ts'

export interface CuratorRules {
  readonly curator: { readonly conviction_scale: number }
}

export const curatorCalls: Reader<CuratorRules> = {
  domain: 'curator',
  partsOf: (payload, { curator }) => ({ call: callIn(payload, curator.conviction_scale) }),
}

const callIn = (payload: JsonObject, scale: number): number | null => {
  const direction = payload['direction']
  if (direction === 'neutral') return 0
  const conviction = numberIn(payload, 'conviction')
  if (conviction === null) return null
  if (direction === 'bullish') return Math.max(0, conviction) / scale
  return direction === 'bearish' ? -Math.max(0, conviction) / scale : null
}
