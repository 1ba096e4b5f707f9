import type { FeedBar } from '../../../core/market/bar.ts'
import type { Timer } from '../../../ports/timer.ts'
import { barOf } from './bars.ts'
import { holesIn, type Candle, type Span } from './candles.ts'
import type { Delivery } from './delivery.ts'
import type { Exchange } from './exchange.ts'
import { fetchCandles, type Resolution } from './history.ts'
import type { Line } from './line.ts'
import type { Watched } from './markets.ts'
import { earliestMs, floorTo, type PastPlan } from './plan.ts'
import { NO_SIDE_VALUES, type SideValues } from './side-values.ts'
import type { ErrorReports } from './errors.ts'
import { messageOf } from './values.ts'
import type { VenueClock } from './venue-clock.ts'

export interface BarFollowerDependencies {
  readonly exchange: Exchange
  readonly line: Line
  readonly clock: VenueClock
  readonly timer: Timer
  readonly signal: AbortSignal
  readonly delivery: Delivery
  readonly troubles: ErrorReports
  readonly resolution: Resolution
  readonly warmupResolution: Resolution | null
  readonly sideValuesOf: (watched: Watched) => Promise<SideValues>
}

/** Where a symbol stands. */
export interface Cursor extends PastPlan {
  readonly watched: Watched
}

export interface BarFollower {
  /** Tells what closed before the start, as far as the venue tells it now. */
  catchUp(): Promise<void>
  /** Until the feed stops: every bar after it has closed. What was missed meanwhile comes first, as backfill. */
  follow(): Promise<void>
}

/**
 * Bars come by request, when the venue's clock says that they have closed: candles on a socket do not say whether they
 * are final. Starting, catching up after an outage and following are one path: ask from where the symbol stands.
 */
export const createBarFollower = (parts: BarFollowerDependencies, begin: readonly Cursor[]): BarFollower => {
  const { clock, timer, signal, delivery, troubles, resolution } = parts
  const barMs = resolution.seconds * 1000
  let cursors = begin

  const behind = (boundaryMs: number): readonly Cursor[] =>
    cursors.filter(({ nextMs, warmup }) => nextMs < boundaryMs || warmup !== null)

  const advanceAll = async (round: Round): Promise<void> => {
    const steps = await Promise.all(behind(round.boundaryMs).map((cursor) => stepOf(parts, cursor, round)))
    const moved = new Map(steps.map(({ cursor }) => [cursor.watched, cursor]))
    cursors = cursors.map((cursor) => moved.get(cursor.watched) ?? cursor)
    tellFailures(troubles, steps)
    await delivery.deliver(steps.flatMap(({ bars }) => bars))
    tellStale(round)
  }

  const tellStale = ({ boundaryMs, isLast }: Round): void => {
    const late = behind(boundaryMs)
    if (late.length === 0) troubles.clear('stale')
    if (late.length === 0 || !isLast) return
    const since = new Date(Math.min(...late.map(({ nextMs }) => nextMs))).toISOString()
    troubles.raise('stale', `the venue has told no bar since ${since} of ${namesOf(late)}`)
  }

  return {
    catchUp: () => advanceAll({ boundaryMs: floorTo(clock.now(), barMs), isStart: true, isLast: false }),
    follow: async () => {
      let boundaryMs = Number.NEGATIVE_INFINITY
      let attempts = 0
      while (!signal.aborted) {
        const newestMs = floorTo(clock.now(), barMs)
        if (newestMs !== boundaryMs) attempts = 0
        boundaryMs = newestMs
        const isDone = behind(boundaryMs).length === 0 || attempts > RETRIES_MAX
        const dueMs = boundaryMs + Math.min(SETTLE_MS, barMs / 4) + (isDone ? barMs : 0)
        if (clock.now() < dueMs) {
          // In parts: a clock that is set meanwhile is noticed.
          await timer.wait(Math.min(dueMs - clock.now(), WAIT_MS_MAX), signal)
          continue
        }
        await clock.keep()
        if (floorTo(clock.now(), barMs) !== boundaryMs) continue
        await advanceAll({ boundaryMs, isStart: false, isLast: attempts === RETRIES_MAX })
        if (behind(boundaryMs).length > 0) await timer.wait(Math.min(1000 * 2 ** attempts, barMs / 8), signal)
        attempts += 1
      }
    },
  }
}

/** Venues finish a candle a moment after its time. */
const SETTLE_MS = 1000
/** Within one bar; with the next bar it goes on. */
const RETRIES_MAX = 4
const WAIT_MS_MAX = 60_000
/** A hole at the very end may still be filled; an older one stays. */
const FRESH_HOLE_BARS = 2

interface Round {
  readonly boundaryMs: number
  readonly isStart: boolean
  /** Nobody waits any longer for what is missing between the candles. */
  readonly isLast: boolean
}

interface Step {
  readonly cursor: Cursor
  readonly bars: readonly FeedBar[]
  readonly failure: string | null
}

/** One symbol, as far as the venue tells it. Bars and the new place of the cursor belong together. */
const stepOf = async (parts: BarFollowerDependencies, cursor: Cursor, round: Round): Promise<Step> => {
  const { watched } = cursor
  const barMs = parts.resolution.seconds * 1000
  const span = { fromMs: withinReach(parts, cursor, round), toMs: round.boundaryMs }
  try {
    const past = await warmupOf(parts, cursor)
    const candles = usable(await fetchCandles(parts, watched, parts.resolution, span), span, barMs, round)
    for (const hole of holesIn(candles, span.fromMs, barMs))
      tellHole(parts, watched, hole, 'are not at the venue')
    const isNewest = ({ openMs }: Candle): boolean => !round.isStart && openMs + barMs === round.boundaryMs
    const side = candles.some(isNewest) ? await parts.sideValuesOf(watched) : NO_SIDE_VALUES
    const bars = candles.map((candle) =>
      barOf(candle, {
        symbol: watched.symbol,
        resolutionSeconds: parts.resolution.seconds,
        backfill: !isNewest(candle),
        side: isNewest(candle) ? side : NO_SIDE_VALUES,
      }),
    )
    const last = candles.at(-1)
    const nextMs = last === undefined ? span.fromMs : last.openMs + barMs
    return { cursor: { watched, warmup: null, nextMs }, bars: [...past, ...bars], failure: null }
  } catch (error) {
    return { cursor: { ...cursor, nextMs: span.fromMs }, bars: [], failure: messageOf(error) }
  }
}

const warmupOf = async (
  parts: BarFollowerDependencies,
  { watched, warmup }: Cursor,
): Promise<readonly FeedBar[]> => {
  const { warmupResolution } = parts
  if (warmup === null || warmupResolution === null) return []
  const candles = await fetchCandles(parts, watched, warmupResolution, warmup)
  const context = { symbol: watched.symbol, backfill: true, side: NO_SIDE_VALUES }
  return candles.map((candle) => barOf(candle, { ...context, resolutionSeconds: warmupResolution.seconds }))
}

/** Candles behind a fresh hole wait: once they are told, the hole cannot be filled any more. */
const usable = (candles: readonly Candle[], span: Span, barMs: number, round: Round): readonly Candle[] => {
  if (round.isLast) return candles
  const hole = holesIn(candles, span.fromMs, barMs).find(
    ({ toMs }) => toMs > round.boundaryMs - FRESH_HOLE_BARS * barMs,
  )
  return hole === undefined ? candles : candles.filter(({ openMs }) => openMs < hole.fromMs)
}

/** A long absence is not made up for, and that is told. */
const withinReach = (
  parts: BarFollowerDependencies,
  { watched, nextMs }: Cursor,
  { boundaryMs }: Round,
): number => {
  const reachMs = earliestMs(boundaryMs, parts.resolution.seconds * 1000)
  if (nextMs >= reachMs) return nextMs
  tellHole(parts, watched, { fromMs: nextMs, toMs: reachMs }, 'are too many to be fetched')
  return reachMs
}

const tellHole = (
  { troubles, resolution }: BarFollowerDependencies,
  watched: Watched,
  hole: Span,
  why: string,
): void => {
  const count = (hole.toMs - hole.fromMs) / (resolution.seconds * 1000)
  const [from, to] = [hole.fromMs, hole.toMs].map((ms) => new Date(ms).toISOString())
  troubles.tell(`${watched.symbol} has a gap: ${count} bars from ${from} to ${to} ${why}`)
}

const tellFailures = (troubles: ErrorReports, steps: readonly Step[]): void => {
  const failed = steps.filter(({ failure }) => failure !== null)
  if (failed.length === 0) {
    troubles.clear('bars')
    return
  }
  const names = namesOf(failed.map(({ cursor }) => cursor))
  troubles.raise('bars', `no bars of ${names} for now: ${failed[0]?.failure ?? ''}`)
}

const namesOf = (cursors: readonly Cursor[]): string =>
  cursors.map(({ watched }) => watched.symbol).join(', ')
