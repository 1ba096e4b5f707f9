import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import type { CanonicalSymbol, Timestamp } from '../shared/brand.ts'
import { dayNumber, msOf } from '../shared/time.ts'
import {
  agreementOf,
  countedCall,
  endedEarly,
  isOpenAt,
  keptOf,
  repeatedBy,
  withdrawnFrom,
  type CallCount,
  type Repetition,
  type Stance,
} from './agreement.ts'
import type { Call } from './calls.ts'

/** Which authors repeat which others. All tables are bounded. */
export interface Overlaps {
  readonly stances: PersistentMap<CanonicalSymbol, readonly Stance[]>
  readonly counts: PersistentMap<string, CallCount>
  /** Repetitions by pair: the later author and the earlier one. */
  readonly repetitions: PersistentMap<string, Repetition>
  readonly sweptDay: number
}

export const NO_OVERLAPS: Overlaps = {
  stances: PersistentMap(),
  counts: PersistentMap(),
  repetitions: PersistentMap(),
  sweptDay: 0,
}

/** Separates the names in the key of a pair. No registered name contains it. Authors with other names have no vote. */
const SEPARATOR = '\n'

/** Key of a pair: first the author of the later call, then the author of the earlier one. */
const pairKey = (later: string, earlier: string): string => `${later}${SEPARATOR}${earlier}`

const authorsIn = (key: string): readonly [later: string, earlier: string] => {
  const at = key.indexOf(SEPARATOR)
  return [key.slice(0, at), key.slice(at + 1)]
}

const DAYS_KEPT = 180
const STANCES_MAX = 64
const SYMBOLS_MAX = 2000
const AUTHORS_MAX = 100_000
const REPETITIONS_MAX = 100_000
/**
 * Names without a record fill at most half of the table: otherwise a flood of them would displace known repetitions.
 */
const UNPROVEN_MAX = REPETITIONS_MAX / 2
/** Above this number of pairs, pairs with an unproven name are dropped if they met fewer than about `RARE` times. */
const CROWDED = 0.8 * UNPROVEN_MAX
const RARE = 3

/** Loss if the stance of this author is forgotten. A new name has nothing to lose. */
export type WorthOf = (author: string) => number

export const evolveOverlaps = (overlaps: Overlaps, event: KnownEvent, worthOf: WorthOf): Overlaps => {
  switch (event.type) {
    case 'attribution.recorded.v1':
      return recorded(overlaps, event.payload, worthOf)
    case 'brain.cycle.v1':
      return swept(overlaps, event.ts, worthOf)
    default:
      return overlaps
  }
}

const recorded = (
  overlaps: Overlaps,
  made: PayloadOf<'attribution.recorded.v1'>,
  worthOf: WorthOf,
): Overlaps => {
  const { symbol, direction, call_id: callId } = made
  // Skips signals without a call, and damaged events.
  if (symbol === null || direction === null || typeof callId !== 'string') return overlaps
  if (typeof made.due_at !== 'string' || !isJudged(made.ref_price)) return overlaps
  const [atMs, dueMs] = [msOf(made.received_at), msOf(made.due_at)]
  const author = authorKey(made.contributor_id, made.producer_id)
  if (!(atMs < dueMs) || author.includes(SEPARATOR)) return overlaps
  return withStance(overlaps, symbol, { author, direction, atMs, openMs: dueMs - atMs }, worthOf)
}

/**
 * Calls without a price are never judged. If they counted here, a copy could hide among calls on invented symbols,
 * which cost its author nothing.
 */
const isJudged = (refPrice: Call['refPrice'] | number | undefined): boolean =>
  refPrice !== null && refPrice !== undefined

/** A call before its ordinal among the author's calls is known. */
type Said = Pick<Stance, 'author' | 'direction' | 'atMs' | 'openMs'>

const withStance = (before: Overlaps, symbol: CanonicalSymbol, said: Said, worthOf: WorthOf): Overlaps => {
  const { author, direction, atMs } = said
  const known = before.stances.get(symbol) ?? []
  const own = known.find((other) => other.author === author)
  const untilMs = atMs + said.openMs
  // A repeated signal of the same author only extends its stance. It is not compared with other authors.
  if (own !== undefined && own.direction === direction && isOpenAt(own, atMs))
    return untilMs > own.untilMs ? heldUntil(before, symbol, own, untilMs) : before
  if (known.length === 0 && before.stances.size >= SYMBOLS_MAX) return before
  const open = known.filter((stance) => isOpenAt(stance, atMs))
  const overlaps =
    own !== undefined && agreementOf(own.direction, direction) === -1
      ? withdrawn(before, own, open, atMs)
      : before
  const count = countedCall(overlaps.counts.get(author), direction)
  if (count.calls === 1 && overlaps.counts.size >= AUTHORS_MAX) return overlaps
  // Calls of other authors before the author's previous call were not new when it spoke again in the same direction, so
  // they are not compared again. After a change of direction they are: a call in between must not hide a copy.
  const newsFromMs = own?.direction === direction ? own.atMs : 0
  const stance = { ...said, untilMs, nth: count.calls, newsFromMs }
  const others = known.filter((other) => other !== own && (isOpenAt(other, atMs) || atMs < other.untilMs))
  const news = open.filter((other) => other !== own && other.atMs >= newsFromMs)
  return {
    stances: overlaps.stances.set(symbol, remembered([...others, stance], worthOf)),
    counts: overlaps.counts.set(author, count),
    repetitions: news.reduce((repetitions, other) => {
      const key = pairKey(author, other.author)
      const met = repetitions.get(key)
      const limit = areProven(author, other.author, worthOf) ? REPETITIONS_MAX : UNPROVEN_MAX
      if (met === undefined && repetitions.size >= limit) return repetitions
      return repetitions.set(key, repeatedBy(met, stance, other))
    }, overlaps.repetitions),
    sweptDay: overlaps.sweptDay,
  }
}

const heldUntil = (overlaps: Overlaps, symbol: CanonicalSymbol, own: Stance, untilMs: number): Overlaps => ({
  ...overlaps,
  stances: overlaps.stances.update(symbol, [], (all) =>
    all.map((stance) => (stance === own ? { ...own, untilMs } : stance)),
  ),
})

/**
 * Reduces the sums when an author contradicts its open call. If authors often change their minds, each change ends an
 * agreement or begins one. Counted fully, a copy that is sometimes first and sometimes second would seem to disagree as
 * often as to agree. Therefore the part of a call that was still ahead is deducted. `open` is in the order of the
 * calls.
 */
const withdrawn = (overlaps: Overlaps, own: Stance, open: readonly Stance[], nowMs: number): Overlaps => {
  const place = open.indexOf(own)
  const count = overlaps.counts.get(own.author)
  if (place === -1 || count === undefined) return overlaps
  return {
    ...overlaps,
    counts: overlaps.counts.set(own.author, withdrawnFrom(count, own, nowMs)),
    repetitions: open.reduce((repetitions, other, index) => {
      if (index === place) return repetitions
      const [earlier, later] = index < place ? [other, own] : [own, other]
      const key = pairKey(later.author, earlier.author)
      const met = repetitions.get(key)
      return met === undefined ? repetitions : repetitions.set(key, endedEarly(met, later, earlier, nowMs))
    }, overlaps.repetitions),
  }
}

/** Authors whose latest call on the symbol is still open, repetitions included. */
export const authorsWithOpenCall = (
  { stances }: Overlaps,
  symbol: CanonicalSymbol,
  nowMs: number,
): readonly string[] =>
  (stances.get(symbol) ?? []).filter(({ untilMs }) => nowMs < untilMs).map(({ author }) => author)

/** Drops the least valuable stance beyond the limit, so that a flood of new names cannot displace proven authors. */
const remembered = (stances: readonly Stance[], worthOf: WorthOf): readonly Stance[] => {
  if (stances.length <= STANCES_MAX) return stances
  let least = 0
  stances.forEach(({ author }, index) => {
    if (worthOf(author) < worthOf((stances[least] as Stance).author)) least = index
  })
  return stances.toSpliced(least, 1)
}

/** Runs once a day. Drops ended stances, pairs that have not met for long, and rare pairs if there are too many. */
const swept = (overlaps: Overlaps, now: Timestamp, worthOf: WorthOf): Overlaps => {
  const [today, nowMs] = [dayNumber(now), msOf(now)]
  if (today === overlaps.sweptDay || Number.isNaN(today)) return overlaps
  const isCrowded = overlaps.repetitions.size > CROWDED
  const isKept = ({ day, squares }: Repetition, key: string): boolean =>
    day > today - DAYS_KEPT && !(isCrowded && squares < RARE && !areProven(...authorsIn(key), worthOf))
  const stances = overlaps.stances.filter((all) => all.some(({ untilMs }) => nowMs < untilMs))
  const repetitions = overlaps.repetitions.filter(isKept)
  return { stances, counts: keptCounts(overlaps.counts, stances, repetitions), repetitions, sweptDay: today }
}

/** If the table is full, drops authors who repeat no other author and have no open call. */
const keptCounts = (
  counts: Overlaps['counts'],
  stances: Overlaps['stances'],
  repetitions: Overlaps['repetitions'],
): Overlaps['counts'] => {
  if (counts.size < AUTHORS_MAX) return counts
  const needed = new Set<string>()
  stances.forEach((all) => all.forEach(({ author }) => needed.add(author)))
  repetitions.forEach((_repetition, key) => needed.add(authorsIn(key)[0]))
  return counts.filter((_count, author) => needed.has(author))
}

/** True if both authors have a positive record. */
const areProven = (one: string, other: string, worthOf: WorthOf): boolean =>
  worthOf(one) > 0 && worthOf(other) > 0

/** How far the calls of one author repeat those of another, as a share of all its calls. */
export interface Repeats {
  readonly later: string
  readonly earlier: string
  /** From -1 to 1; 0 for authors who agree as often as not. */
  readonly share: number
  /**
   * Like `share`, but counts agreement as it was when this author spoke. Later changes of mind by the other author do
   * not reduce it.
   */
  readonly shareAtOnce: number
  /** Variance of the share by chance. */
  readonly variance: number
  /** Agreement independent of the delay: 1 if every call repeats an open call of the other author. */
  readonly steady: number
  /** Variance of `steady` by chance. */
  readonly steadyVariance: number
  /** Expected agreement of two independent authors with the same leanings. */
  readonly byLean: number
}

export const repeatsOf = ({ counts, repetitions }: Overlaps): readonly Repeats[] => {
  const all: Repeats[] = []
  // Each author belongs to many pairs. All share one text of its name: maps compare equal texts letter by letter.
  const authors = new Map<string, CountedAuthor>()
  const authorNamed = (name: string): CountedAuthor => {
    const known = authors.get(name)
    if (known !== undefined) return known
    const author = { name, count: counts.get(name) }
    authors.set(name, author)
    return author
  }
  repetitions.forEach(({ agreed, atOnce, squares, asOfCall }, key) => {
    const [later, earlier] = authorsIn(key).map(authorNamed) as [CountedAuthor, CountedAuthor]
    const { count } = later
    if (count === undefined) return
    const kept = keptOf(asOfCall, count.calls)
    all.push({
      later: later.name,
      earlier: earlier.name,
      share: (kept * agreed) / count.weight,
      shareAtOnce: (kept * atOnce) / count.weight,
      variance: (kept * squares) / (count.weight * count.weight),
      steady: squares > 0 ? (Math.sqrt(kept) * agreed) / Math.sqrt(squares * count.squares) : 0,
      steadyVariance: count.squares / (count.weight * count.weight),
      byLean: leanOf(count) * leanOf(earlier.count),
    })
  })
  return all
}

interface CountedAuthor {
  readonly name: string
  readonly count: CallCount | undefined
}

const leanOf = (count: CallCount | undefined): number => (count === undefined ? 0 : count.lean / count.weight)
