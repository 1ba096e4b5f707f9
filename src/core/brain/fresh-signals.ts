import { canonicalSymbol } from '../shared/symbol.ts'
import { freshMsOf, qualityAt, type QualitySeconds } from './quality.ts'
import { type ScoredType, weightedTypeOf } from '../signal-types/all.ts'
import type { AuthorSignal, AuthorSignals } from './signal.ts'
import { authorKeyOf, type WeightedAuthor, weightedAuthorOf } from './weighted-author.ts'

/** What was said about one symbol: who said it, and what, place by place. Authors stand in the order of their names. */
export interface Heard {
  readonly weightedAuthors: readonly WeightedAuthor[]
  readonly signals: readonly AuthorSignal[]
}

/** A signal that may still speak. */
export interface FreshSignal {
  readonly weighted: WeightedAuthor
  readonly signal: AuthorSignal
  readonly declaration: ScoredType
  /** Above 0, up to 1. */
  readonly quality: number
}

/** Names everything and therefore nothing. */
const GLOBAL = 'GLOBAL'

/** By canonical symbol. Authors come in order whatever way their words came: equal facts make equal events. */
export const heardBySymbol = (authors: readonly AuthorSignals[]): ReadonlyMap<string, Heard> => {
  const bySymbol = new Map<string, HeardSoFar>()
  // Few symbols are named by many signals.
  const bySpelling = new Map<string, HeardSoFar | null>()
  for (const { author, said } of inOrder(authors)) {
    if (author.kind !== 'contributor' && author.quarantined) continue
    const weighted = weightedAuthorOf(author)
    for (const signal of said) {
      const spelling = signal.symbol ?? ''
      const known = bySpelling.get(spelling)
      const heard = known === undefined ? spelt(spelling) : known
      if (heard === null) continue
      heard.weightedAuthors.push(weighted)
      heard.signals.push(signal)
    }
  }
  return bySymbol

  function spelt(spelling: string): HeardSoFar | null {
    const symbol = canonicalSymbol(spelling)
    const isNone = symbol === '' || symbol === GLOBAL
    const heard = isNone ? null : (bySymbol.get(symbol) ?? { weightedAuthors: [], signals: [] })
    if (heard !== null) bySymbol.set(symbol, heard)
    bySpelling.set(spelling, heard)
    return heard
  }
}

/** The newest signal per type and author, while it has any quality; what an author said stands together. */
export const freshIn = (
  heard: Heard | undefined,
  asOfMs: number,
  qualitySeconds: QualitySeconds,
): readonly FreshSignal[] => {
  const fresh: FreshSignal[] = []
  if (heard === undefined) return fresh
  const { weightedAuthors, signals } = heard
  for (let place = 0; place < signals.length; place += 1) {
    const [weighted, signal] = [weightedAuthors[place] as WeightedAuthor, signals[place] as AuthorSignal]
    const declaration = weightedTypeOf(signal.type)
    if (declaration === undefined) continue
    const freshMs = freshMsOf(declaration.domain, weighted.author, qualitySeconds)
    const quality = qualityAt(asOfMs - signal.effectiveTimeMs, freshMs)
    if (quality !== 0) admit(fresh, { weighted, signal, declaration, quality })
  }
  return fresh
}

interface HeardSoFar extends Heard {
  readonly weightedAuthors: WeightedAuthor[]
  readonly signals: AuthorSignal[]
}

const inOrder = (authors: readonly AuthorSignals[]): readonly AuthorSignals[] =>
  authors
    .map((authorSignals) => ({ key: authorKeyOf(authorSignals.author), authorSignals }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ authorSignals }) => authorSignals)

/** One signal of a type, by the names of the types. */
const admit = (admitted: FreshSignal[], fresh: FreshSignal): void => {
  const { type, effectiveTimeMs } = fresh.signal
  let at = admitted.length
  for (; at > 0; at -= 1) {
    const { weighted, signal } = admitted[at - 1] as FreshSignal
    if (weighted !== fresh.weighted || signal.type < type) break
    if (signal.type > type) continue
    // Of two at the same time the one that was stored later counts.
    if (signal.effectiveTimeMs <= effectiveTimeMs) admitted[at - 1] = fresh
    return
  }
  if (at === admitted.length) admitted.push(fresh)
  else admitted.splice(at, 0, fresh)
}
