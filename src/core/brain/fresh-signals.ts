import type { CanonicalSymbol } from '../shared/brand.ts'
import { weightedTypeOf, type ScoredType } from '../signal-types/all.ts'
import type { Domain } from '../shared/domains.ts'
import { clamp01 } from '../shared/numbers.ts'
import { namesAsset } from '../shared/symbol.ts'
import {
  authorKeyOf,
  weightedAuthorOf,
  type Author,
  type AuthorSignal,
  type AuthorSignals,
  type WeightedAuthor,
} from './authors.ts'

/** The signals on one symbol and their authors, as parallel lists, ordered by author. */
export interface SymbolSignals {
  readonly authors: readonly WeightedAuthor[]
  readonly signals: readonly AuthorSignal[]
}

/** A signal that still has quality. */
export interface FreshSignal {
  readonly weighted: WeightedAuthor
  readonly signal: AuthorSignal
  readonly declaration: ScoredType
  /** Above 0, up to 1. */
  readonly quality: number
}

type QualitySeconds = Readonly<Record<Domain, number>>

/** Ordered by author, independent of the order of arrival, so that equal facts give equal events. */
export const signalsBySymbol = (
  authors: readonly AuthorSignals[],
): ReadonlyMap<CanonicalSymbol, SymbolSignals> => {
  const bySymbol = new Map<CanonicalSymbol, GrowingSignals>()
  for (const { author, signals, openOn } of inOrder(authors)) {
    if (author.kind !== 'contributor' && author.quarantined) continue
    // All signals of an author on a symbol share one of these objects, which identifies the author.
    const [open, over] = [weightedAuthorOf(author, true), weightedAuthorOf(author, false)]
    for (const signal of signals) {
      const { symbol } = signal
      if (!namesAsset(symbol)) continue
      const list = bySymbol.get(symbol) ?? { authors: [], signals: [] }
      list.authors.push(openOn.has(symbol) ? open : over)
      list.signals.push(signal)
      bySymbol.set(symbol, list)
    }
  }
  return bySymbol
}

/**
 * Ages are measured from `asOfMs`. Signals that arrived between it and `nowMs` count as new. Later signals have no
 * quality.
 */
export interface SignalTimes {
  readonly asOfMs: number
  readonly nowMs?: number | undefined
}

/** The newest signal per type and author that still has quality. The signals of one author are adjacent. */
export const freshSignals = (
  of: SymbolSignals | undefined,
  { asOfMs, nowMs = asOfMs }: SignalTimes,
  qualitySeconds: QualitySeconds,
): readonly FreshSignal[] => {
  const fresh: FreshSignal[] = []
  if (of === undefined) return fresh
  const { authors, signals } = of
  for (let index = 0; index < signals.length; index += 1) {
    const [weighted, signal] = [authors[index] as WeightedAuthor, signals[index] as AuthorSignal]
    const declaration = weightedTypeOf(signal.type)
    if (declaration === undefined) continue
    const freshMs = freshMsOf(declaration.domain, weighted.author, qualitySeconds)
    const { effectiveTimeMs } = signal
    const ageMs = effectiveTimeMs <= nowMs ? Math.max(0, asOfMs - effectiveTimeMs) : -1
    const quality = qualityAt(ageMs, freshMs)
    if (quality !== 0) insert(fresh, { weighted, signal, declaration, quality })
  }
  return fresh
}

/** A signal fades over three times its fresh time. */
const FADING_TIMES = 3

/** Age lowers the weight of a signal, never its value. A signal from the future has no quality. */
export const qualityAt = (ageMs: number, freshMs: number): number => {
  if (ageMs < 0) return 0
  return clamp01(1 - (ageMs - freshMs) / (FADING_TIMES * freshMs))
}

/** A producer's signal stays fresh at least until its next scheduled run. */
export const freshMsOf = (domain: Domain, author: Author, qualitySeconds: QualitySeconds): number => {
  const domainMs = qualitySeconds[domain] * 1000
  return author.kind === 'contributor' ? domainMs : Math.max(domainMs, author.intervalMs ?? 0)
}

interface GrowingSignals extends SymbolSignals {
  readonly authors: WeightedAuthor[]
  readonly signals: AuthorSignal[]
}

const inOrder = (authors: readonly AuthorSignals[]): readonly AuthorSignals[] =>
  authors
    .map((authorSignals) => ({ key: authorKeyOf(authorSignals.author), authorSignals }))
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ authorSignals }) => authorSignals)

/** Keeps one signal per type of the last author, sorted by type. */
const insert = (list: FreshSignal[], fresh: FreshSignal): void => {
  const { type, effectiveTimeMs } = fresh.signal
  let at = list.length
  for (; at > 0; at -= 1) {
    const { weighted, signal } = list[at - 1] as FreshSignal
    if (weighted !== fresh.weighted || signal.type < type) break
    if (signal.type > type) continue
    // For signals with the same time, the one stored later counts.
    if (signal.effectiveTimeMs <= effectiveTimeMs) list[at - 1] = fresh
    return
  }
  if (at === list.length) list.push(fresh)
  else list.splice(at, 0, fresh)
}
