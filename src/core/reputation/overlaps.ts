import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import type { CanonicalSymbol, Timestamp } from '../shared/brand.ts'
import { DAY_MS, dayNumber, msOf } from '../shared/time.ts'
import type { Call, CallDirection } from './calls.ts'
import { clamp01, powerOfTwo } from '../shared/numbers.ts'

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

// Sums over the calls of an author, and over its calls that repeat another author.

/** Current view of an author on a symbol: its latest call there that did not merely extend an earlier one. */
interface Stance {
  readonly author: string
  readonly direction: CallDirection
  readonly atMs: number
  /** How long the call stays open after `atMs`. */
  readonly openMs: number
  /** Due time of the latest call that extends it. */
  readonly untilMs: number
  /** Ordinal of the call among all calls of the author. */
  readonly nth: number
  /** Time from which calls of other authors were compared with this one. */
  readonly newsFromMs: number
}

const isOpenAt = (stance: Stance, nowMs: number): boolean => nowMs < endOf(stance)

const endOf = ({ atMs, openMs }: Stance): number => atMs + openMs

/** 1 for one direction, -1 for opposite ones. */
const agreementOf = (one: CallDirection, other: CallDirection): number => {
  if (one === other) return 1
  return one === 'neutral' || other === 'neutral' ? 0 : -1
}

/** Calls of an author. Except for `calls`, the sums discount older calls. */
interface CallCount {
  /** All calls, without discount. */
  readonly calls: number
  /**
   * Discounted number of calls. A call that its author contradicted counts only as the part of its time before that.
   */
  readonly weight: number
  readonly squares: number
  /** Bullish minus bearish calls. */
  readonly lean: number
}

/** Number of newer calls after which a call of the author counts half. */
const HALF_LIFE_CALLS = 100

const KEPT_PER_CALL = powerOfTwo(-1 / HALF_LIFE_CALLS)

/** Remaining weight of the `nth` call of an author with this many calls. */
const keptOf = (nth: number, calls: number): number => powerOfTwo((nth - calls) / HALF_LIFE_CALLS)

const LEAN = { bullish: 1, neutral: 0, bearish: -1 } as const

const countedCall = (before: CallCount | undefined, direction: CallDirection): CallCount => ({
  calls: (before?.calls ?? 0) + 1,
  weight: (before?.weight ?? 0) * KEPT_PER_CALL + 1,
  squares: (before?.squares ?? 0) * KEPT_PER_CALL + 1,
  lean: (before?.lean ?? 0) * KEPT_PER_CALL + LEAN[direction],
})

/** Sums after the author contradicted that call. */
const withdrawnFrom = (
  { calls, weight, squares, lean }: CallCount,
  { nth, direction, atMs, openMs }: Stance,
  nowMs: number,
): CallCount => {
  const passed = clamp01((nowMs - atMs) / openMs)
  const kept = keptOf(nth, calls)
  return {
    calls,
    weight: weight - kept * (1 - passed),
    squares: squares - kept * (1 - passed * passed),
    lean: lean - kept * (1 - passed) * LEAN[direction],
  }
}

/** How far the calls of one author repeat open calls of another. The sums discount older calls of the first author. */
interface Repetition {
  /**
   * Sum of agreements: 1 for the direction of a call just made, -1 for the opposite, nearer to 0 the older that call
   * is.
   */
  readonly agreed: number
  readonly squares: number
  /** Like `agreed`, but never reduced when the other author contradicts its call later. */
  readonly atOnce: number
  /** Ordinal of the first author's call up to which the sums are discounted. */
  readonly asOfCall: number
  readonly day: number
}

/** Sums after a call was compared with an open one. */
const repeatedBy = (before: Repetition | undefined, stance: Stance, other: Stance): Repetition => {
  const { nth } = stance
  const nearness = nearnessOf(stance, other)
  const agreed = nearness * agreementOf(stance.direction, other.direction)
  const kept = before === undefined ? 0 : keptOf(before.asOfCall, nth)
  return {
    agreed: kept * (before?.agreed ?? 0) + agreed,
    atOnce: kept * (before?.atOnce ?? 0) + agreed,
    squares: kept * (before?.squares ?? 0) + nearness * nearness,
    asOfCall: nth,
    day: Math.floor(stance.atMs / DAY_MS),
  }
}

/**
 * Sums after the author of one of the two calls contradicted it. The pair then counts only for the time that has
 * passed.
 */
const endedEarly = (before: Repetition, stance: Stance, other: Stance, nowMs: number): Repetition => {
  const togetherMs = Math.min(endOf(stance), endOf(other)) - stance.atMs
  // The two calls were not compared.
  if (other.atMs < stance.newsFromMs || !(togetherMs > 0)) return before
  const passed = clamp01((nowMs - stance.atMs) / togetherMs)
  const nearness = nearnessOf(stance, other)
  const kept = keptOf(stance.nth, before.asOfCall)
  return {
    ...before,
    agreed: before.agreed - kept * (1 - passed) * nearness * agreementOf(stance.direction, other.direction),
    squares: Math.max(0, before.squares - kept * (1 - passed * passed) * nearness * nearness),
  }
}

/** Part of the other call that was still open. */
const nearnessOf = (stance: Stance, other: Stance): number => {
  const age = (stance.atMs - other.atMs) / other.openMs
  return clamp01(1 - age * age)
}
