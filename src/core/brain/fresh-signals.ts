import { canonicalSymbol } from '../vocabulary/symbol.ts'
import { domainOf } from './evidence.ts'
import { freshMsOf, qualityAt, type QualitySeconds } from './quality.ts'
import type { Domain } from '../vocabulary/domains.ts'
import type { Author, Said, Voice } from './signal.ts'

/** A signal that may still speak. */
export interface FreshSignal {
  readonly author: Author
  readonly signal: Said
  readonly domain: Domain
  /** Above 0, up to 1. */
  readonly quality: number
}

/** Names everything and therefore nothing. */
const GLOBAL = 'GLOBAL'

/**
 * By canonical symbol, the newest signal per type and author, while it has any quality. Authors come in the
 * order of their names, whatever way their words came: equal facts make equal events.
 */
export const freshSignalsBySymbol = (
  voices: readonly Voice[],
  asOfMs: number,
  qualitySeconds: QualitySeconds,
): ReadonlyMap<string, readonly FreshSignal[]> => {
  const bySymbol = new Map<string, FreshSignal[]>()
  // Few symbols are named by many signals.
  const bySpelling = new Map<string, FreshSignal[] | null>()
  for (const { author, said } of inOrder(voices)) {
    if (author.kind !== 'contributor' && author.quarantined) continue
    for (const signal of said) {
      const domain = domainOf(signal.type)
      if (domain === null) continue
      const quality = qualityAt(asOfMs - signal.effectiveTimeMs, freshMsOf(domain, author, qualitySeconds))
      if (quality === 0) continue
      const heard = listOf(signal.symbol ?? '')
      if (heard !== null) hear(heard, { author, signal, domain, quality })
    }
  }
  return bySymbol

  function listOf(spelling: string): FreshSignal[] | null {
    const known = bySpelling.get(spelling)
    if (known !== undefined) return known
    const symbol = canonicalSymbol(spelling)
    const list = symbol === '' || symbol === GLOBAL ? null : (bySymbol.get(symbol) ?? [])
    if (list !== null) bySymbol.set(symbol, list)
    bySpelling.set(spelling, list)
    return list
  }
}

/** A producer may bear the id of a contributor. */
export const authorKeyOf = ({ kind, id }: Author): string => `${kind}:${id}`

const inOrder = (voices: readonly Voice[]): readonly Voice[] =>
  voices
    .map((voice) => ({ key: authorKeyOf(voice.author), voice }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ voice }) => voice)

/** What an author said stands together, one signal of a type, by the names of the types. */
const hear = (heard: FreshSignal[], fresh: FreshSignal): void => {
  const { type, effectiveTimeMs } = fresh.signal
  let at = heard.length
  for (; at > 0; at -= 1) {
    const { author, signal } = heard[at - 1] as FreshSignal
    if (author !== fresh.author || signal.type < type) break
    if (signal.type > type) continue
    // Of two at the same time the one that was stored later counts.
    if (signal.effectiveTimeMs <= effectiveTimeMs) heard[at - 1] = fresh
    return
  }
  if (at === heard.length) heard.push(fresh)
  else heard.splice(at, 0, fresh)
}
