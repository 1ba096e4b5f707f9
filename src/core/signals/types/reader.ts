import type { JsonObject } from '../../shared/json.ts'
import type { Domain } from '../../shared/domains.ts'
import type { MarketFacts } from '../../market/readings.ts'

/** Signed pieces of evidence by name, still unclamped; null where the facts are missing. */
export type Parts = Readonly<Record<string, number | null>>

/** What a signal of one type says. Positive speaks for higher prices. */
export interface Reader<Rules> {
  readonly domain: Domain
  readonly partsOf: (payload: JsonObject, rules: Rules, market: MarketFacts) => Parts
}

export const numberIn = (payload: JsonObject, member: string): number | null => {
  const value = payload[member]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export const positiveIn = (payload: JsonObject, member: string): number | null => {
  const value = numberIn(payload, member)
  return value !== null && value > 0 ? value : null
}

/** How far above neutral a value lies, in units of its scale. */
export const above = (value: number | null, neutral: number, scale: number): number | null =>
  value === null ? null : (value - neutral) / scale

/** How far below neutral: the mirror image. */
export const below = (value: number | null, neutral: number, scale: number): number | null =>
  value === null ? null : (neutral - value) / scale

/** (more - less)/(more + less) of two sizes. */
export const balance = (more: number | null, less: number | null): number | null => {
  if (more === null || less === null || more < 0 || less < 0 || more + less === 0) return null
  return (more - less) / (more + less)
}

/** A flow in units of a share of the day's volume. The signal's own volume counts before the observed one. */
export const flowIn = (
  payload: JsonObject,
  member: string,
  volumeShare: number,
  market: MarketFacts,
): number | null => {
  const flowUsd = numberIn(payload, member)
  const volumeUsd = positiveIn(payload, 'volume_24h_usd') ?? market.volume24hUsd
  if (flowUsd === null || volumeUsd === null || volumeUsd <= 0) return null
  return flowUsd / (volumeShare * volumeUsd)
}
