import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import type { CallId, CanonicalSymbol, Timestamp } from '../shared/brand.ts'
import { clamp01, powerOfTwo } from '../shared/numbers.ts'
import { joinedBy } from '../shared/joined-text.ts'
import { dayNumber, HORIZON_MS, horizonIn, msOf } from '../shared/time.ts'
import type { Call, CallDirection } from './calls.ts'

/** The newest call of an author on a symbol. */
interface Stance {
  readonly author: string
  readonly callId: CallId
  readonly direction: CallDirection
  readonly atMs: number
  readonly horizonMs: number
}

/** How far the calls of one author repeat open calls of another; sums that fade with the first one's newer calls. */
interface Repetition {
  /** 1 for the same direction as a call just made, -1 for the opposite, towards 0 as that call nears its end. */
  readonly agreed: number
  readonly squares: number
  /** The number of the call of the first author up to which the sums are discounted. */
  readonly asOfCall: number
  readonly day: number
}

interface CallCount {
  /** All calls. */
  readonly calls: number
  /** The same, discounted as the sums are. */
  readonly weight: number
  /** Bullish less bearish calls, discounted. */
  readonly lean: number
}

/** Who repeats whom. Bounded in every direction. */
export interface Overlaps {
  readonly stances: PersistentMap<CanonicalSymbol, readonly Stance[]>
  readonly counts: PersistentMap<string, CallCount>
  /** By the author who spoke later and the one who spoke before. */
  readonly repetitions: PersistentMap<string, Repetition>
  readonly sweptDay: number
}

export const NO_OVERLAPS: Overlaps = {
  stances: PersistentMap(),
  counts: PersistentMap(),
  repetitions: PersistentMap(),
  sweptDay: 0,
}

/** After so many newer calls of an author one counts half. */
const HALF_LIFE_CALLS = 100
const DAYS_KEPT = 180
const STANCES_MAX = 64
const SYMBOLS_MAX = 2000
const AUTHORS_MAX = 100_000
const REPETITIONS_MAX = 100_000
/** Names without a record fill only half of the table: otherwise a flood of them would hide who repeats whom. */
const UNPROVEN_MAX = REPETITIONS_MAX / 2
/** If there are more pairs, those with such a name that met so rarely give way. */
const CROWDED = 0.8 * UNPROVEN_MAX
const RARE = 3

/** How much is lost if the stance of this author is not remembered; a new name has nothing to lose. */
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
  const horizon = horizonIn(made.horizon)
  const atMs = msOf(made.received_at)
  // A signal without a call, or a damaged event.
  if (symbol === null || direction === null || typeof callId !== 'string') return overlaps
  if (!isJudged(made.ref_price)) return overlaps
  const author = authorKey(made.contributor_id, made.producer_id)
  if (horizon === null || Number.isNaN(atMs) || author.includes(SEPARATOR)) return overlaps
  return withStance(
    overlaps,
    symbol,
    { author, callId, direction, atMs, horizonMs: HORIZON_MS[horizon] },
    worthOf,
  )
}

/**
 * A call without a price is judged by nothing. If it counted here, a copy could hide among calls on invented symbols, which
 * cost its author nothing.
 */
const isJudged = (refPrice: Call['refPrice'] | number | undefined): boolean =>
  refPrice !== null && refPrice !== undefined

/** After a signal that joins a call of its author. */
export const afterJoined = (
  overlaps: Overlaps,
  { id: callId, contributorId, producerId, symbol, direction, horizon, refPrice }: Call,
  atMs: number,
  worthOf: WorthOf,
): Overlaps => {
  const author = authorKey(contributorId, producerId)
  if (author.includes(SEPARATOR) || !isJudged(refPrice)) return overlaps
  return withStance(
    overlaps,
    symbol,
    { author, callId, direction, atMs, horizonMs: HORIZON_MS[horizon] },
    worthOf,
  )
}

const withStance = (
  overlaps: Overlaps,
  symbol: CanonicalSymbol,
  stance: Stance,
  worthOf: WorthOf,
): Overlaps => {
  const { callId, direction } = stance
  const known = overlaps.stances.get(symbol) ?? []
  const own = known.find((other) => other.author === stance.author)
  // It joins a call that is open already.
  if (own?.callId === callId) return overlaps
  if (known.length === 0 && overlaps.stances.size >= SYMBOLS_MAX) return overlaps
  const count = countedCall(overlaps.counts.get(stance.author), direction)
  if (count.calls === 1 && overlaps.counts.size >= AUTHORS_MAX) return overlaps
  const others = known.filter((other) => other.author !== stance.author && isOpenAt(other, stance.atMs))
  // What others said before an author's own last call was no news when it spoke again, unless it follows them only now: a
  // call in between must not hide a copy.
  const news = others.filter(
    (other) => own === undefined || own.direction !== direction || other.atMs >= own.atMs,
  )
  return {
    stances: overlaps.stances.set(symbol, remembered([...others, stance], worthOf)),
    counts: overlaps.counts.set(stance.author, count),
    repetitions: news.reduce(
      (repetitions, other) =>
        withRepetition(repetitions, stance, other, {
          call: count.calls,
          limit: areProven(stance.author, other.author, worthOf) ? REPETITIONS_MAX : UNPROVEN_MAX,
        }),
      overlaps.repetitions,
    ),
    sweptDay: overlaps.sweptDay,
  }
}

/** Those whose newest call on a symbol is not over. */
export const authorsWithOpenCall = (
  { stances }: Overlaps,
  symbol: CanonicalSymbol,
  nowMs: number,
): readonly string[] =>
  (stances.get(symbol) ?? []).filter((stance) => isOpenAt(stance, nowMs)).map(({ author }) => author)

const isOpenAt = ({ atMs, horizonMs }: Stance, nowMs: number): boolean => nowMs < atMs + horizonMs

/** A flood of new names must not make the engine forget whom they repeat. */
const remembered = (stances: readonly Stance[], worthOf: WorthOf): readonly Stance[] => {
  if (stances.length <= STANCES_MAX) return stances
  let least = 0
  stances.forEach(({ author }, index) => {
    if (worthOf(author) < worthOf((stances[least] as Stance).author)) least = index
  })
  return stances.toSpliced(least, 1)
}

const countedCall = (before: CallCount | undefined, direction: CallDirection): CallCount => ({
  calls: (before?.calls ?? 0) + 1,
  weight: (before?.weight ?? 0) * KEPT_PER_CALL + 1,
  lean: (before?.lean ?? 0) * KEPT_PER_CALL + LEAN[direction],
})

const LEAN = { bullish: 1, neutral: 0, bearish: -1 } as const

const KEPT_PER_CALL = powerOfTwo(-1 / HALF_LIFE_CALLS)

const withRepetition = (
  repetitions: Overlaps['repetitions'],
  stance: Stance,
  other: Stance,
  { call, limit }: { readonly call: number; readonly limit: number },
): Overlaps['repetitions'] => {
  const key = keyOf(stance.author, other.author)
  const before = repetitions.get(key)
  if (before === undefined && repetitions.size >= limit) return repetitions
  const age = (stance.atMs - other.atMs) / other.horizonMs
  const nearness = clamp01(1 - age * age)
  const kept = before === undefined ? 0 : powerOfTwo((before.asOfCall - call) / HALF_LIFE_CALLS)
  return repetitions.set(key, {
    agreed: kept * (before?.agreed ?? 0) + nearness * agreementOf(stance.direction, other.direction),
    squares: kept * (before?.squares ?? 0) + nearness * nearness,
    asOfCall: call,
    day: Math.floor(stance.atMs / DAY_LENGTH_MS),
  })
}

const DAY_LENGTH_MS = 86_400_000

const agreementOf = (one: CallDirection, other: CallDirection): number => {
  if (one === other) return 1
  return one === 'neutral' || other === 'neutral' ? 0 : -1
}

/** No registered name contains it, and others have no vote. */
const SEPARATOR = '\n'
const keyOf = joinedBy(SEPARATOR)
const authorsIn = (key: string): Authors => {
  const known = split.get(key)
  if (known !== undefined) return known
  const at = key.indexOf(SEPARATOR)
  const authors: Authors = at === -1 ? [key, ''] : [nameOf(key.slice(0, at)), nameOf(key.slice(at + 1))]
  if (split.size >= SPLIT_MAX) split.clear()
  split.set(key, authors)
  return authors
}

type Authors = readonly [later: string, earlier: string]

/** Every cycle asks for the same pairs. Each name is one text, because equal texts are compared letter by letter. */
const nameOf = (text: string): string => {
  const known = names.get(text)
  if (known !== undefined) return known
  if (names.size >= SPLIT_MAX) names.clear()
  names.set(text, text)
  return text
}

/** As many as there may be pairs. */
const SPLIT_MAX = REPETITIONS_MAX
const split = new Map<string, Authors>()
const names = new Map<string, string>()

/** Once a day: drops ended stances, pairs that did not meet for long, and rare ones if there are too many. */
const swept = (overlaps: Overlaps, now: Timestamp, worthOf: WorthOf): Overlaps => {
  const [today, nowMs] = [dayNumber(now), msOf(now)]
  if (today === overlaps.sweptDay || Number.isNaN(today)) return overlaps
  const isCrowded = overlaps.repetitions.size > CROWDED
  const isKept = ({ day, squares }: Repetition, key: string): boolean =>
    day > today - DAYS_KEPT && !(isCrowded && squares < RARE && !areProven(...authorsIn(key), worthOf))
  const stances = overlaps.stances.filter((all) => all.some((stance) => isOpenAt(stance, nowMs)))
  const repetitions = overlaps.repetitions.filter(isKept)
  return { stances, counts: keptCounts(overlaps.counts, stances, repetitions), repetitions, sweptDay: today }
}

/** If the table is full, those give way who repeat nobody and have no open call. */
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

/** Both have been right more than wrong. */
const areProven = (one: string, other: string, worthOf: WorthOf): boolean =>
  worthOf(one) > 0 && worthOf(other) > 0

/** How far one author's calls repeat those of another, as a share of all its calls. */
export interface Repeats {
  readonly later: string
  readonly earlier: string
  /** From -1 to 1; 0 for authors who agree as often as not. */
  readonly share: number
  /** What chance adds to the share, one standard deviation, squared. */
  readonly variance: number
  /** The same agreement whatever the delay: 1 if all its calls repeat an open one of the other. */
  readonly steady: number
  /** What chance adds to that, squared. */
  readonly steadyVariance: number
  /** The share at which two authors agree who call one direction as often as these two, whatever the other says. */
  readonly byLean: number
}

export const repeatsOf = ({ counts, repetitions }: Overlaps): readonly Repeats[] => {
  const all: Repeats[] = []
  // Each author stands in many pairs.
  const known = new Map<string, CallCount | undefined>()
  const countOf = (author: string): CallCount | undefined => {
    const count = known.get(author) ?? counts.get(author)
    known.set(author, count)
    return count
  }
  repetitions.forEach(({ agreed, squares, asOfCall }, key) => {
    const [later, earlier] = authorsIn(key)
    const count = countOf(later)
    if (count === undefined) return
    const kept = powerOfTwo((asOfCall - count.calls) / HALF_LIFE_CALLS)
    all.push({
      later,
      earlier,
      share: (kept * agreed) / count.weight,
      variance: (kept * squares) / (count.weight * count.weight),
      steady: squares > 0 ? (Math.sqrt(kept) * agreed) / Math.sqrt(squares * count.weight) : 0,
      steadyVariance: 1 / count.weight,
      byLean: leanOf(count) * leanOf(countOf(earlier)),
    })
  })
  return all
}

const leanOf = (count: CallCount | undefined): number => (count === undefined ? 0 : count.lean / count.weight)
