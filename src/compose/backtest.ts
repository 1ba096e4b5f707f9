import { resolve } from 'node:path'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { createDraws } from '../adapters/feeds/simulated/draws.ts'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { RecordedTimer } from '../backtest/backtest-engine.ts'
import { LogFeed } from '../backtest/log-feed.ts'
import { reportOf, type BacktestReport, type BacktestSubject } from '../backtest/report.ts'
import {
  backtest,
  NoBarsError,
  settingsForSymbol,
  WARM_UP_BARS,
  type BacktestDependencies,
} from '../backtest/run.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { EventLog } from '../ports/event-log.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { BacktestRequest } from '../surfaces/cli/dependencies.ts'

export interface BacktestFolders {
  readonly home: string
  readonly version: string
  /** Null where nothing was ever stored. */
  readonly log: EventLog | null
}

/** Nothing of it touches the home: a log is read at most. */
export const runBacktest = async (
  given: Configuration,
  wish: BacktestRequest,
  place: BacktestFolders,
): Promise<BacktestReport> => {
  const { strategy, symbol, resetsDaily, onError, onProgress } = wish
  const chosen = symbol === undefined ? given : settingsForSymbol(given, symbol)
  const seed = wish.seed ?? given.market.seed
  const { market, fromMs, toMs, ...stage } = stageOf(chosen, { ...wish, seed }, place)
  const course = await backtest({
    ...stage,
    strategy,
    version: place.version,
    fromMs,
    toMs,
    resetsDaily,
    onError,
    onTime: (nowMs) => {
      if (fromMs !== null && toMs !== null) onProgress(nowMs - fromMs, toMs - fromMs)
    },
  }).catch(explain)
  const signs = createDraws(seed, 0, 'backtest:signs', sha256Hex)
  const { symbols } = chosen.universe
  return reportOf({ strategy, market, symbols, seed, resetsDaily }, course, () => signs.uniform())
}

const explain = (error: unknown): never => {
  throw error instanceof NoBarsError ? new Failure('backtest.no_bars', error.message) : error
}

/** Where a run takes place: whose bars, which part of them, and who makes signals of them. */
interface Stage extends Pick<BacktestDependencies, 'feed' | 'producers' | 'settings' | 'fromMs' | 'toMs'> {
  readonly market: BacktestSubject['market']
}

type SeededWish = BacktestRequest & { readonly seed: number }

const stageOf = (settings: Configuration, wish: SeededWish, { home, log }: BacktestFolders): Stage => {
  if (wish.isFromLog) {
    if (log === null) throw new Failure('store.missing', `there is no event store in ${home} yet`)
    // What producers said is in the log, too.
    return { ...rangeOf(wish), market: 'log', feed: new LogFeed(log), producers: [], settings }
  }
  if (wish.file !== undefined) return fileStage(settings, wish, wish.file)
  if (settings.market.feed === 'file') return fileStage(settings, wish, resolve(home, settings.market.file))
  return simulatedStage(settings, wish)
}

const rangeOf = ({ fromMs, toMs }: BacktestRequest) => ({ fromMs: fromMs ?? null, toMs: toMs ?? null })

const fileStage = (given: Configuration, wish: SeededWish, file: string): Stage => {
  const market = { ...given.market, feed: 'file', file, speed: FASTEST } as const
  return {
    ...rangeOf(wish),
    market: 'file',
    feed: createFileFeed({ settings: market, timer: new RecordedTimer(0) }),
    producers: BUILT_IN_PRODUCERS,
    settings: { ...given, market },
  }
}

const FASTEST = 1_000_000

/** Bars as long as those that are analysed, after as long a past as a run looks at. */
const simulatedStage = (given: Configuration, wish: SeededWish): Stage => {
  const { ta } = given
  const { fromMs, toMs } = simulatedRange(wish)
  const market = {
    ...given.market,
    feed: 'simulated',
    seed: wish.seed,
    bar_seconds: ta.bar_seconds,
    tick_seconds: ta.bar_seconds % STEP_SECONDS === 0 ? STEP_SECONDS : given.market.tick_seconds,
    warmup_hours: Math.ceil((WARM_UP_BARS * ta.bar_seconds) / 3600),
  } as const
  return {
    fromMs,
    toMs,
    market: 'simulated',
    feed: createSimulatedFeed({ settings: market, timer: new RecordedTimer(fromMs), sha256Hex }),
    producers: BUILT_IN_PRODUCERS,
    settings: { ...given, market },
  }
}

const STEP_SECONDS = 60

/** Always the same month where none is named: what is asked twice is answered alike. */
const simulatedRange = ({ fromMs, toMs }: BacktestRequest) => {
  const from = fromMs ?? (toMs === undefined ? SIMULATED_FROM_MS : toMs - SIMULATED_MS)
  return { fromMs: from, toMs: toMs ?? from + SIMULATED_MS }
}

const SIMULATED_FROM_MS = Date.UTC(2026, 0, 1)
const SIMULATED_MS = 30 * DAY_MS
