import { canonicalSymbol } from '../vocabulary/symbol.ts'
import { domainOf } from './evidence.ts'
import { freshMsOf, qualityAt, type QualitySeconds } from './quality.ts'
import type { Domain } from '../vocabulary/domains.ts'
import type { Author, BrainSignal } from './signal.ts'

/** A signal that may still speak. */
export interface FreshSignal {
  readonly signal: BrainSignal
  readonly domain: Domain
  readonly authorKey: string
  /** Above 0, up to 1. */
  readonly quality: number
}

/** Names everything and therefore nothing. */
const GLOBAL = 'GLOBAL'

/** By canonical symbol, the newest signal per type and author, while it has any quality. */
export const freshSignalsBySymbol = (
  signals: readonly BrainSignal[],
  asOfMs: number,
  qualitySeconds: QualitySeconds,
): ReadonlyMap<string, readonly FreshSignal[]> => {
  const newest = new Map<string, Map<string, FreshSignal>>()
  // Few symbols are named by many signals.
  const canonical = new Map<string, string>()
  const keys = new Map<Author, string>()
  for (const signal of signals) {
    const spelling = signal.symbol ?? ''
    const symbol = canonical.get(spelling) ?? canonicalSymbol(spelling)
    canonical.set(spelling, symbol)
    const author = keys.get(signal.author) ?? authorKeyOf(signal.author)
    keys.set(signal.author, author)
    const fresh = freshen(signal, author, asOfMs, qualitySeconds)
    if (fresh === null || symbol === '' || symbol === GLOBAL) continue
    const ofSymbol = newest.get(symbol) ?? new Map<string, FreshSignal>()
    newest.set(symbol, ofSymbol)
    const slot = `${signal.type}|${author}`
    const rival = ofSymbol.get(slot)
    // Of two at the same time the one that was stored later counts.
    if (rival !== undefined && rival.signal.effectiveTimeMs > signal.effectiveTimeMs) continue
    ofSymbol.set(slot, fresh)
  }
  return new Map([...newest].map(([symbol, ofSymbol]) => [symbol, [...ofSymbol.values()]]))
}

/** A producer may bear the id of a contributor. */
export const authorKeyOf = ({ kind, id }: Author): string => `${kind}:${id}`

const freshen = (
  signal: BrainSignal,
  authorKey: string,
  asOfMs: number,
  qualitySeconds: QualitySeconds,
): FreshSignal | null => {
  const { author } = signal
  const domain = domainOf(signal.type)
  if (domain === null || (author.kind !== 'contributor' && author.quarantined)) return null
  const quality = qualityAt(asOfMs - signal.effectiveTimeMs, freshMsOf(domain, author, qualitySeconds))
  return quality > 0 ? { signal, domain, authorKey, quality } : null
}
