import type { z } from 'zod'
import type { Domain } from '../shared/domains.ts'
import type { JsonObject } from '../shared/json.ts'
import { clamp } from '../shared/numbers.ts'
import { aci } from './aci.ts'
import { curator } from './curator.ts'
import type { MarketFacts, Evidence, UnweightedType, WeightedType } from './declare.ts'
import { etf } from './etf.ts'
import { events } from './events.ts'
import { onchain } from './onchain.ts'
import { orderbook } from './orderbook.ts'
import { priceAlert } from './price-alert.ts'
import { priceWs } from './price-ws.ts'
import { sentiment } from './sentiment.ts'
import { social } from './social.ts'
import { stablecoin } from './stablecoin.ts'
import { strategy } from './strategy.ts'
import { ta } from './ta.ts'
import { tradfi } from './tradfi.ts'
import { whale } from './whale.ts'

/** Every type that the engine knows. Signals of other types are stored and carry no weight. */
export const SIGNAL_TYPES = [
  aci,
  curator,
  etf,
  events,
  onchain,
  orderbook,
  priceAlert,
  priceWs,
  sentiment,
  social,
  stablecoin,
  strategy,
  ta,
  tradfi,
  whale,
] as const

type Declaration = (typeof SIGNAL_TYPES)[number]
type Configurable = Extract<Declaration, { readonly settings: z.ZodType }>

/** The settings schemas of all types, as the group `brain.parts` of the configuration. */
export const PARTS_SHAPE = Object.fromEntries(
  SIGNAL_TYPES.flatMap((declaration) =>
    declaration.domain === null || declaration.settings === null
      ? []
      : [[declaration.name, declaration.settings]],
  ),
) as { [Type in Configurable as Type['name']]: Type['settings'] }

/** The configured settings of all types. */
export type PartSettings = { readonly [Type in Configurable as Type['name']]: z.infer<Type['settings']> }

/** `signal.<domain>[.<name>].v<n>` */
export const SIGNAL_TYPE_PATTERN = /^signal(\.[a-z][a-z0-9_]*){1,3}\.v[1-9][0-9]*$/

/** A weighted type whose settings are looked up by name. */
export type ScoredType = WeightedType & { readonly domain: Domain }

const BY_TYPE: ReadonlyMap<string, UnweightedType | ScoredType> = new Map(
  SIGNAL_TYPES.map((declaration) => [
    declaration.type,
    declaration as unknown as UnweightedType | ScoredType,
  ]),
)

export const signalTypeOf = (type: string): UnweightedType | ScoredType | undefined => BY_TYPE.get(type)

/** Undefined for a type that carries no weight. */
export const weightedTypeOf = (type: string): ScoredType | undefined => {
  const declaration = BY_TYPE.get(type)
  return declaration === undefined || declaration.domain === null ? undefined : declaration
}

/**
 * Domain whose authors may emit a type. Prices are technical. An unknown type belongs to the domain in its second
 * segment, which may also be the name of a known type (`signal.ta.mine.v1` is technical).
 */
export const domainOfType = (type: string): string => {
  const known = BY_TYPE.get(type)
  if (known !== undefined) return known.domain ?? PRICES_DOMAIN
  const segment = type.split('.')[1] ?? ''
  const declaration = BY_TYPE.get(`signal.${segment}.v1`)
  return declaration === undefined ? segment : (declaration.domain ?? PRICES_DOMAIN)
}

const PRICES_DOMAIN: Domain = 'technical'

/** The producers this engine ships, by name. */
export const BUILTIN_PRODUCERS: Readonly<
  Record<string, { readonly domain: Domain; readonly schedule: string | null }>
> = Object.fromEntries(
  [...BY_TYPE.values()]
    .flatMap(({ producer, domain: ownDomain }) => {
      const domain = ownDomain ?? producer?.domain
      return producer === null || domain === undefined
        ? []
        : [[producer.name, { domain, schedule: producer.schedule }] as const]
    })
    .toSorted(([one], [other]) => (one < other ? -1 : 1)),
)

/** The evidence in a signal, from -1 (lower prices) to 1 (higher prices); null if it has none. */
export const evidenceOf = (
  { type, payload }: { readonly type: string; readonly payload: JsonObject },
  market: MarketFacts,
  settings: PartSettings,
): number | null => {
  const declaration = weightedTypeOf(type)
  return declaration === undefined ? null : evidenceIn(declaration, payload, market, settings)
}

export const evidenceIn = (
  { name, partsOf }: ScoredType,
  payload: JsonObject,
  market: MarketFacts,
  settings: PartSettings,
): number | null => meanOf(partsOf(payload, settings[name as keyof PartSettings], market))

/** Mean of all parts with equal weight. Missing parts are left out. */
const meanOf = (parts: Evidence): number | null => {
  let sum = 0
  let count = 0
  for (const name in parts) {
    const part = parts[name] ?? null
    if (part === null) continue
    sum += clamp(part)
    count += 1
  }
  return count === 0 ? null : sum / count
}
