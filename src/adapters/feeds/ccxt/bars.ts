import type { FeedBar } from '../../../core/market/bar.ts'
import type { FeedListener } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { deliverBars } from '../../feed.ts'
import {
  earliestMs,
  fetchCandles,
  floorTo,
  holesIn,
  type BackfillPlan,
  type Candle,
  type Span,
} from './candles.ts'
import type { ExchangeClock } from './exchange-clock.ts'
import { messageOf, type ErrorReports, type Exchange } from './exchange.ts'
import type { WatchedSymbol } from './markets.ts'
import { cents, NO_SIDE_VALUES, type SideValues } from './side-values.ts'

export interface BarFollowerDependencies {
  readonly exchange: Exchange
  readonly clock: ExchangeClock
  readonly timer: Timer
  readonly signal: AbortSignal
  readonly deliver: (bars: readonly FeedBar[]) => Promise<void>
  readonly errors: ErrorReports
  readonly sideValuesOf: (watched: WatchedSymbol) => Promise<SideValues>
}

/** How far the bars of a symbol are delivered. */
export interface Cursor extends BackfillPlan {
  readonly watched: WatchedSymbol
}

export interface BarFollower {
  /** Delivers what closed before the start, as far as the exchange returns it now. */
  catchUp(): Promise<void>
  /** Delivers every bar after it has closed, until the feed stops. Missed bars come first, as backfill. */
  follow(): Promise<void>
}

/**
 * Bars are requested when the exchange's clock says that they have closed: candles on a socket do not say whether they
 * are final. Starting, catching up and following are one path: request from the cursor on.
 */
export const createBarFollower = (
  dependencies: BarFollowerDependencies,
  start: readonly Cursor[],
): BarFollower => {
  const { exchange, clock, timer, signal, deliver, errors } = dependencies
  const barMs = exchange.resolution.seconds * 1000
  let cursors = start

  const behind = (boundaryMs: number): readonly Cursor[] =>
    cursors.filter(({ nextMs, warmup }) => nextMs < boundaryMs || warmup !== null)

  const advanceAll = async (round: Round): Promise<void> => {
    const steps = await Promise.all(
      behind(round.boundaryMs).map((cursor) => advance(dependencies, cursor, round)),
    )
    const moved = new Map(steps.map(({ cursor }) => [cursor.watched, cursor]))
    cursors = cursors.map((cursor) => moved.get(cursor.watched) ?? cursor)
    reportFailures(errors, steps)
    await deliver(steps.flatMap(({ bars }) => bars))
    reportStale(round)
  }

  const reportStale = ({ boundaryMs, isLast }: Round): void => {
    const late = behind(boundaryMs)
    if (late.length === 0) errors.clear('stale')
    if (late.length === 0 || !isLast) return
    const since = new Date(Math.min(...late.map(({ nextMs }) => nextMs))).toISOString()
    errors.raise('stale', `no bars of ${namesOf(late)} since ${since}: the exchange returns none`)
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
          // Not in one piece: the clock may be set meanwhile.
          await timer.wait(Math.min(dueMs - clock.now(), WAIT_MS_MAX), signal)
          continue
        }
        await clock.refresh()
        if (floorTo(clock.now(), barMs) !== boundaryMs) continue
        await advanceAll({ boundaryMs, isStart: false, isLast: attempts === RETRIES_MAX })
        if (behind(boundaryMs).length > 0) await timer.wait(Math.min(1000 * 2 ** attempts, barMs / 8), signal)
        attempts += 1
      }
    },
  }
}

/** Exchanges finish a candle a moment after its close. */
const SETTLE_MS = 1000
/** Within one bar; the next bar starts over. */
const RETRIES_MAX = 4
const WAIT_MS_MAX = 60_000
/** A hole among the newest bars may still be filled; an older one stays. */
const FRESH_HOLE_BARS = 2

interface Round {
  readonly boundaryMs: number
  readonly isStart: boolean
  /** Missing candles are not waited for any longer. */
  readonly isLast: boolean
}

interface Step {
  readonly cursor: Cursor
  readonly bars: readonly FeedBar[]
  readonly failure: string | null
}

/** The new bars of one symbol, and its cursor behind them. */
const advance = async (
  dependencies: BarFollowerDependencies,
  cursor: Cursor,
  round: Round,
): Promise<Step> => {
  const { exchange, errors, sideValuesOf } = dependencies
  const { watched } = cursor
  const { symbol } = watched
  const { seconds } = exchange.resolution
  const barMs = seconds * 1000
  const reachMs = earliestMs(round.boundaryMs, barMs)
  if (cursor.nextMs < reachMs)
    reportGap(errors, symbol, { fromMs: cursor.nextMs, toMs: reachMs }, barMs, 'too many to fetch')
  const span = { fromMs: Math.max(cursor.nextMs, reachMs), toMs: round.boundaryMs }
  try {
    const past = await fetchWarmup(exchange, cursor)
    const fetched = await fetchCandles(exchange, watched, exchange.resolution, span)
    const candles = beforeFreshHole(fetched, span, barMs, round)
    for (const hole of holesIn(candles, span.fromMs, barMs))
      reportGap(errors, symbol, hole, barMs, 'missing at the exchange')
    const isNewest = ({ openMs }: Candle): boolean => !round.isStart && openMs + barMs === round.boundaryMs
    const side = candles.some(isNewest) ? await sideValuesOf(watched) : NO_SIDE_VALUES
    const bars = candles.map((candle) =>
      isNewest(candle) ? barOf(candle, symbol, seconds, side) : backfillOf(candle, symbol, seconds),
    )
    const last = candles.at(-1)
    const nextMs = last === undefined ? span.fromMs : last.openMs + barMs
    return { cursor: { watched, warmup: null, nextMs }, bars: [...past, ...bars], failure: null }
  } catch (error) {
    return { cursor: { ...cursor, nextMs: span.fromMs }, bars: [], failure: messageOf(error) }
  }
}

const fetchWarmup = async (exchange: Exchange, { watched, warmup }: Cursor): Promise<readonly FeedBar[]> => {
  const { warmupResolution: resolution } = exchange
  if (warmup === null || resolution === null) return []
  const candles = await fetchCandles(exchange, watched, resolution, warmup)
  return candles.map((candle) => backfillOf(candle, watched.symbol, resolution.seconds))
}

/** Candles after a fresh hole wait: once they are delivered, the hole cannot be filled any more. */
const beforeFreshHole = (
  candles: readonly Candle[],
  { fromMs }: Span,
  barMs: number,
  { boundaryMs, isLast }: Round,
): readonly Candle[] => {
  if (isLast) return candles
  const hole = holesIn(candles, fromMs, barMs).find(({ toMs }) => toMs > boundaryMs - FRESH_HOLE_BARS * barMs)
  return hole === undefined ? candles : candles.filter(({ openMs }) => openMs < hole.fromMs)
}

const reportGap = (errors: ErrorReports, symbol: string, gap: Span, barMs: number, why: string): void => {
  const [from, to] = [gap.fromMs, gap.toMs].map((ms) => new Date(ms).toISOString())
  errors.report(
    `${symbol} has a gap of ${(gap.toMs - gap.fromMs) / barMs} bars from ${from} to ${to}: ${why}`,
  )
}

const reportFailures = (errors: ErrorReports, steps: readonly Step[]): void => {
  const failed = steps.filter(({ failure }) => failure !== null)
  if (failed.length === 0) {
    errors.clear('bars')
    return
  }
  const names = namesOf(failed.map(({ cursor }) => cursor))
  errors.raise('bars', `could not fetch bars of ${names}, will retry: ${failed[0]?.failure ?? ''}`)
}

const namesOf = (cursors: readonly Cursor[]): string =>
  cursors.map(({ watched }) => watched.symbol).join(', ')

const backfillOf = (candle: Candle, symbol: string, seconds: number): FeedBar => ({
  ...barOf(candle, symbol, seconds, NO_SIDE_VALUES),
  backfill: true,
})

const barOf = (candle: Candle, symbol: string, seconds: number, side: SideValues): FeedBar => ({
  symbol,
  resolution_s: seconds,
  open_ts: new Date(candle.openMs).toISOString(),
  close_ts: new Date(candle.openMs + seconds * 1000).toISOString(),
  open: candle.open,
  high: candle.high,
  low: candle.low,
  close: candle.close,
  volume: candle.volume,
  // Candles have a volume in units only: its value follows from the typical price.
  quote_volume: cents((candle.volume * (candle.high + candle.low + candle.close)) / 3),
  ...side,
  fear_greed: null,
  backfill: false,
})

export interface Delivery {
  /** Bars that closed together are delivered together, oldest first, and again until they are stored. */
  readonly deliver: (bars: readonly FeedBar[]) => Promise<void>
  readonly lastBarAtMs: () => number | null
}

export const createDelivery = (
  listener: FeedListener,
  timer: Timer,
  signal: AbortSignal,
  errors: ErrorReports,
): Delivery => {
  let lastBarAtMs: number | null = null
  const onFailure = (message: string): void => errors.raise('store', message)
  return {
    deliver: async (bars) => {
      const groups = new Map<number, FeedBar[]>()
      for (const bar of bars) {
        const closeMs = Date.parse(bar.close_ts)
        groups.set(closeMs, [...(groups.get(closeMs) ?? []), bar])
      }
      for (const [closeMs, group] of [...groups].sort(([left], [right]) => left - right)) {
        if (!(await deliverBars(group, { listener, timer, signal, onFailure }))) return
        lastBarAtMs = Math.max(lastBarAtMs ?? closeMs, closeMs)
        errors.clear('store')
      }
    },
    lastBarAtMs: () => lastBarAtMs,
  }
}
