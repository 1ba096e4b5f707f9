import type { Price } from '../shared/money.ts'
import { z } from 'zod'
import { group, number } from '../config/sections/kinds.ts'
import type { Domain } from '../shared/domains.ts'
import type { JsonObject } from '../shared/json.ts'

/** Market figures of a symbol at the time when a signal is read; null where unknown. */
export interface MarketFacts {
  readonly volume24hUsd: number | null
  readonly return24hPct: number | null
  readonly mark: Price | null
}

export const UNSEEN_MARKET: MarketFacts = { volume24hUsd: null, return24hPct: null, mark: null }

/** Signed pieces of evidence by name, not clamped yet; null where the payload lacks the facts. */
export type Evidence = Readonly<Record<string, number | null>>

/** A producer that ships with the engine. Whether it has data depends on the feed. */
interface BuiltinProducer {
  readonly name: string
  /** Five-field cron expression; null for a producer that polls nothing. */
  readonly schedule: string | null
  /** Domain of the producer, if its signal type has none. */
  readonly domain?: Domain
}

interface Declared<Name extends string> {
  readonly name: Name
  readonly type: `signal.${Name}.v1`
  /** Known members are checked, others are kept. */
  readonly payload: z.ZodObject
  readonly producer: BuiltinProducer | null
}

/** Stored and streamed, but never scored. */
export interface UnweightedType<Name extends string = string> extends Declared<Name> {
  readonly domain: null
}

/** Scored: `partsOf` turns a payload into evidence. Positive evidence speaks for higher prices. */
export interface WeightedType<
  Name extends string = string,
  Settings extends z.ZodType | null = z.ZodType | null,
> extends Declared<Name> {
  readonly domain: Domain
  /** Schema of `brain.parts.<name>` with its defaults; null for a type without settings. */
  readonly settings: Settings
  readonly partsOf: (payload: JsonObject, settings: SettingsOf<Settings>, market: MarketFacts) => Evidence
}

type SettingsOf<Settings> = Settings extends z.ZodType ? z.infer<Settings> : null

export const weightedType = <Name extends string, Settings extends z.ZodType | null>(
  declaration: Omit<WeightedType<Name, Settings>, 'type'>,
): WeightedType<Name, Settings> => ({ ...declaration, type: `signal.${declaration.name}.v1` })

export const unweightedType = <Name extends string>(
  declaration: Omit<UnweightedType<Name>, 'type' | 'domain'>,
): UnweightedType<Name> => ({ ...declaration, type: `signal.${declaration.name}.v1`, domain: null })

/** The settings of a type, under `brain.parts.<name>`. */
export const settingsOf = <Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) =>
  group(`signal.${name}.v1`, shape)

/** A divisor: a value this far from neutral is full evidence. */
export const scale = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 1_000_000 }, description)

export const neutral = (fallback: number, description: string) =>
  number(fallback, { min: -1_000_000, max: 1_000_000 }, description)

export const volumeShare = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 100 }, description)

export const DIRECTIONS = ['bullish', 'bearish', 'neutral'] as const

export const symbol = z.string().min(1).max(32)
export const optionalNumber = z.number().optional()
export const optionalCount = z.int().optional()
/** From 0 to 100. */
export const optionalIndex = z.number().min(0).max(100).optional()
export const optionalDirection = z.enum(DIRECTIONS).optional()

export const numberIn = (payload: JsonObject, member: string): number | null => {
  const value = payload[member]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export const positiveIn = (payload: JsonObject, member: string): number | null => {
  const value = numberIn(payload, member)
  return value !== null && value > 0 ? value : null
}

/** How far above neutral a value lies, in units of its scale. */
export const above = (value: number | null, neutralValue: number, unit: number): number | null =>
  value === null ? null : (value - neutralValue) / unit

/** How far below neutral: the mirror image. */
export const below = (value: number | null, neutralValue: number, unit: number): number | null =>
  value === null ? null : (neutralValue - value) / unit

/** (more - less)/(more + less) of two sizes. */
export const balance = (more: number | null, less: number | null): number | null => {
  if (more === null || less === null || more < 0 || less < 0 || more + less === 0) return null
  return (more - less) / (more + less)
}

/** A flow in units of a share of the day's volume. The volume in the payload takes precedence over the observed one. */
export const flowIn = (
  payload: JsonObject,
  member: string,
  shareOfVolume: number,
  market: MarketFacts,
): number | null => {
  const flowUsd = numberIn(payload, member)
  const volumeUsd = positiveIn(payload, 'volume_24h_usd') ?? market.volume24hUsd
  if (flowUsd === null || volumeUsd === null) return null
  // Checked on the product: a share of the smallest possible volume rounds to zero.
  const unitUsd = shareOfVolume * volumeUsd
  return unitUsd > 0 ? flowUsd / unitUsd : null
}
