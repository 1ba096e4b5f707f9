import { resolve } from 'node:path'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { createDraws } from '../adapters/feeds/simulated/draws.ts'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { RecordedTime } from '../backtest/recorded-time.ts'
import { reportOf, type BacktestReport } from '../backtest/report.ts'
import { onlyFor, WARM_UP_BARS } from '../backtest/run-settings.ts'
import { backtest, NoBarsError } from '../backtest/run.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DAY_MS } from '../core/vocabulary/time.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { BacktestWish } from '../surfaces/cli/workshop.ts'

/** Nothing of it touches the home: no store is opened, and nothing is written. */
export const runBacktest = async (
  given: Configuration,
  wish: BacktestWish,
  { home, version }: { readonly home: string; readonly version: string },
): Promise<BacktestReport> => {
  const { strategy, symbol, resetsDaily, onTrouble, onProgress } = wish
  const seed = wish.seed ?? given.market.seed
  const file = wish.file ?? (given.market.feed === 'file' ? resolve(home, given.market.file) : null)
  const market = file === null ? 'simulated' : 'file'
  const range = file === null ? simulatedRange(wish) : wish
  const chosen = symbol === undefined ? given : onlyFor(given, symbol)
  const settings = { ...chosen, market: { ...chosen.market, ...marketOf(chosen, { file, seed }) } }
  const course = await backtest({
    strategy,
    feed: feedOf(settings, new RecordedTime(range.fromMs ?? 0)),
    producers: BUILT_IN_PRODUCERS,
    settings,
    version,
    fromMs: range.fromMs ?? null,
    toMs: range.toMs ?? null,
    resetsDaily,
    onTrouble,
    onTime: (nowMs) => {
      const { fromMs, toMs } = range
      if (fromMs !== undefined && toMs !== undefined) onProgress(nowMs - fromMs, toMs - fromMs)
    },
  }).catch(explain)
  const signs = createDraws(seed, 0, 'backtest:signs', sha256Hex)
  const { symbols } = settings.universe
  return reportOf({ strategy, market, symbols, seed, resetsDaily }, course, () => signs.uniform())
}

const explain = (error: unknown): never => {
  throw error instanceof NoBarsError ? new Failure('backtest.no_bars', error.message) : error
}

type Range = Pick<BacktestWish, 'fromMs' | 'toMs'>

/** Always the same month where none is named: what is asked twice is answered alike. */
const simulatedRange = ({ fromMs, toMs }: Range): Required<Range> => {
  const from = fromMs ?? (toMs === undefined ? SIMULATED_FROM_MS : toMs - SIMULATED_MS)
  return { fromMs: from, toMs: toMs ?? from + SIMULATED_MS }
}

const SIMULATED_FROM_MS = Date.UTC(2026, 0, 1)
const SIMULATED_MS = 30 * DAY_MS

/** A simulated market makes bars as long as those that are analysed, after as long a past as a run looks at. */
const marketOf = (
  { ta, market }: Configuration,
  { file, seed }: { readonly file: string | null; readonly seed: number },
): Partial<Configuration['market']> => {
  if (file !== null) return { feed: 'file', file, speed: FASTEST, seed }
  return {
    feed: 'simulated',
    seed,
    bar_seconds: ta.bar_seconds,
    tick_seconds: ta.bar_seconds % STEP_SECONDS === 0 ? STEP_SECONDS : market.tick_seconds,
    warmup_hours: Math.ceil((WARM_UP_BARS * ta.bar_seconds) / 3600),
  }
}

const FASTEST = 1_000_000
const STEP_SECONDS = 60

const feedOf = ({ market }: Configuration, timer: RecordedTime): MarketFeed =>
  market.feed === 'file'
    ? createFileFeed({ settings: market, timer })
    : createSimulatedFeed({ settings: market, timer, sha256Hex })
