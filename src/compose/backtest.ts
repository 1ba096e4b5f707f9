import { resolve } from 'node:path'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { createHistoryFeed } from '../adapters/feeds/history/history-feed.ts'
import { createDraws } from '../adapters/feeds/simulated/draws.ts'
import { createSimulatedFeed } from '../adapters/feeds/simulated/simulated-feed.ts'
import type { BarMemory } from '../adapters/history/bar-files/bar-memory.ts'
import { createBarStore } from '../adapters/history/bar-files/bar-store.ts'
import type { InsideOptions } from '../adapters/strategies/files/inside-strategies.ts'
import { BUILT_IN_PRODUCERS } from '../adapters/producers/all.ts'
import { RecordedTimer } from '../backtest/recorded-timer.ts'
import { LogFeed } from '../backtest/log-feed.ts'
import { reportOf, type BacktestReport, type BacktestSubject } from '../backtest/report.ts'
import { backtest, NoBarsError, WARM_UP_BARS } from '../backtest/run.ts'
import type { OwnProducers } from '../backtest/own-producers.ts'
import type { BacktestDependencies, BacktestResult } from '../backtest/run-dependencies.ts'
import { settingsForSymbol } from '../backtest/run-settings.ts'
import type { Configuration } from '../core/config/schema.ts'
import { nearest } from '../core/shared/nearest.ts'
import { selectSeries } from '../core/market/history/select.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { BRAIN } from '../core/strategies/built-in.ts'
import { StrategyError } from '../core/strategies/strategy.ts'
import { sha256Hex } from '../engine/sha256.ts'
import type { BarStore } from '../ports/bar-history.ts'
import type { EventLog } from '../ports/event-log.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { BacktestCosts, BacktestTask } from '../backtest/sweep/task.ts'
import type { BacktestRequest } from '../surfaces/cli/dependencies.ts'
import { copyOf, feedOfCopy, type TextBars } from './file-copies.ts'
import { historyFolder } from './history.ts'
import { codeHash } from './code-hash.ts'
import { findOwnProducers, openStrategy, ownProducer, type OwnCodeSettings } from './strategies.ts'

export interface BacktestFolders {
  readonly home: string
  readonly version: string
  /** Null if nothing was ever stored. */
  readonly log: EventLog | null
  /** Cache of bars for several runs in one process. */
  readonly memory?: BarMemory | undefined
  /**
   * Copy of the file that the run reads, in a process that can write none; null if there is none. Undefined: it is made
   * here.
   */
  readonly fileCopy?: string | null | undefined
  /** Set in a confined and watched process: a strategy of the user runs in this thread. */
  readonly inside?:
    | (InsideOptions & { readonly onState: (state: 'loads' | 'runs' | 'ended') => void })
    | undefined
}

/** Runs a backtest. Writes nothing to the home, and reads at most the log. */
export const runBacktest = async (
  given: Configuration,
  request: BacktestRequest,
  place: BacktestFolders,
): Promise<BacktestReport> => {
  const { strategy, parameters = {}, symbol, resetsDaily, onError, onProgress, onEvents } = request
  if (symbol !== undefined) refuseInvented(given, request, symbol)
  const costed = withCosts(given, request.costs ?? {})
  const chosen = symbol === undefined ? costed : settingsForSymbol(costed, symbol)
  const seed = request.seed ?? given.market.seed
  const { market, fromMs, toMs, progress, ...input } = await inputOf(chosen, { ...request, seed }, place)
  const code = { home: place.home, isBacktest: true, inside: place.inside, onOutput }
  place.inside?.onState('loads')
  const own =
    strategy === BRAIN
      ? undefined
      : await openStrategy(strategy, parameters, {
          ...code,
          analysisSeconds: chosen.ta.bar_seconds,
        })
  place.inside?.onState('runs')
  const course = await backtestAndClose({
    ...input,
    strategy,
    parameters,
    own,
    // The log already has the signals of these producers.
    ownProducers: strategy === BRAIN && market !== 'log' ? await ownProducersOf(code) : undefined,
    version: place.version,
    fromMs,
    toMs,
    resetsDaily,
    onError,
    onTime: (nowMs, bars) => {
      if (progress === null) onProgress(0, 0, bars)
      else onProgress(nowMs - progress.fromMs, progress.toMs - progress.fromMs, bars)
    },
    ...(onEvents === undefined ? {} : { onEvents }),
  })
    .catch(explain)
    .finally(() => place.inside?.onState('ended'))
  const { execution, universe } = input.settings
  const subject = {
    strategy,
    parameters: own?.parameters ?? {},
    market,
    symbols: universe.symbols,
    seed,
    resetsDaily,
    costs: {
      feeBps: execution.paper_fee_bps,
      slippageBps: execution.paper_slippage_bps,
      fundingBps: execution.apply_funding ? execution.paper_funding_bps : ('off' as const),
    },
    trials: { count: request.trials ?? 1, variance: null },
    version: place.version,
    codeHash: market === 'log' && strategy === BRAIN ? null : await codeHash(strategy, place.home),
  }
  return reportOf(subject, course, (stream) => {
    const draws = createDraws(seed, 0, `backtest:${stream}`, sha256Hex)
    return () => draws.uniform()
  })
}

/** Output of the user's code goes to standard error, where its author sees it. */
const onOutput = (text: string): void => void process.stderr.write(text)

const ownProducersOf = async (settings: OwnCodeSettings): Promise<OwnProducers> => ({
  names: (await findOwnProducers(settings.home)).map(({ name }) => name),
  open: (name) => ownProducer(name, settings),
})

/** Runs a backtest, and then ends the process of its strategy in any case. */
const backtestAndClose = async (dependencies: BacktestDependencies): Promise<BacktestResult> => {
  try {
    return await backtest(dependencies)
  } finally {
    await dependencies.own?.close()
  }
}

/**
 * Settings with the costs of the request. An outcome must exceed the cost of a round trip, as the check of settings
 * requires.
 */
const withCosts = (
  given: Configuration,
  { feeBps, slippageBps, fundingBps }: BacktestCosts,
): Configuration => {
  const { execution, settlement } = given
  const fee = feeBps ?? execution.paper_fee_bps
  const slippage = slippageBps ?? execution.paper_slippage_bps
  return {
    ...given,
    execution: {
      ...execution,
      paper_fee_bps: fee,
      paper_slippage_bps: slippage,
      ...(fundingBps === undefined ? {} : fundingSettings(fundingBps)),
    },
    settlement: { ...settlement, band_min: Math.max(settlement.band_min, (2 * (fee + slippage)) / 10_000) },
  }
}

const fundingSettings = (fundingBps: number | 'off') =>
  fundingBps === 'off' ? { apply_funding: false } : { apply_funding: true, paper_funding_bps: fundingBps }

/**
 * Refuses other symbols for a simulated market. Only the symbols of the universe are simulated; any other name would
 * get invented prices.
 */
export const refuseInvented = (
  { universe, market }: Configuration,
  { file, isFromLog, data }: Pick<BacktestRequest, 'file' | 'isFromLog' | 'data'>,
  symbol: string,
): void => {
  const isSimulated = file === undefined && !isFromLog && data.length === 0 && market.feed !== 'file'
  const known = universe.symbols.map(canonicalSymbol)
  if (!isSimulated || known.includes(canonicalSymbol(symbol))) return
  const meant = nearest(symbol, known)
  throw new Failure(
    'symbol.unknown',
    `${symbol} is not in universe.symbols${meant === null ? '' : `; did you mean ${meant}?`}`,
    { advice: `Known: ${known.join(', ')}. Bars of others come from --file or --data.` },
  )
}

const explain = (error: unknown): never => {
  if (error instanceof StrategyError) throw new Failure('strategy.failed', error.message)
  throw error instanceof NoBarsError ? new Failure('backtest.no_bars', error.message) : error
}

/** The input of a run: its bars, their range, and the producers. */
interface Input extends Pick<BacktestDependencies, 'feed' | 'producers' | 'settings' | 'fromMs' | 'toMs'> {
  readonly market: BacktestSubject['market']
  /** Range for computing the progress; null if the end is not known in advance. */
  readonly progress: { readonly fromMs: number; readonly toMs: number } | null
}

type SeededRequest = BacktestRequest & { readonly seed: number }

const inputOf = async (
  settings: Configuration,
  request: SeededRequest,
  { home, log, memory, fileCopy }: BacktestFolders,
): Promise<Input> => {
  const { fromMs, toMs } = request
  if (request.data.length > 0) {
    return historyInput(settings, request, createBarStore(historyFolder(home), memory))
  }
  if (request.isFromLog) {
    if (log === null) throw new Failure('store.missing', `there is no event store in ${home} yet`)
    // The log also holds the signals of the producers.
    return {
      fromMs,
      toMs,
      progress: rangeOf(fromMs, toMs),
      market: 'log',
      feed: new LogFeed(log, settings.brain.cycle_deadline_seconds * 1000),
      producers: [],
      settings,
    }
  }
  const file = fileOf(settings, request, home)
  if (file === null) return simulatedInput(settings, request)
  return fileInput(settings, request, file, fileCopy === undefined ? await copyOf(file, home) : fileCopy)
}

const rangeOf = (fromMs: number | null, toMs: number | null): Input['progress'] =>
  fromMs === null || toMs === null ? null : { fromMs, toMs }

const fileInput = async (
  given: Configuration,
  { fromMs, toMs }: BacktestRequest,
  { market }: TextBars,
  copy: string | null,
): Promise<Input> => ({
  fromMs,
  toMs,
  progress: rangeOf(fromMs, toMs),
  market: 'file',
  feed:
    copy === null
      ? createFileFeed({ settings: market, timer: new RecordedTimer(0) })
      : await feedOfCopy(copy),
  producers: BUILT_IN_PRODUCERS,
  settings: { ...given, market: { ...given.market, ...market, feed: 'file' } },
})

/** File with bars that a run reads. Null if the run has another source of bars. */
export const fileOf = (
  given: Configuration,
  { file, isFromLog, data, symbol }: Pick<BacktestTask, 'file' | 'isFromLog' | 'data' | 'symbol'>,
  home: string,
): TextBars | null => {
  const { market, universe } = symbol === undefined ? given : settingsForSymbol(given, symbol)
  const path = file ?? (market.feed === 'file' ? resolve(home, market.file) : undefined)
  if (isFromLog || data.length > 0 || path === undefined) return null
  const { bar_seconds } = market
  return { market: { file: path, speed: FASTEST, bar_seconds }, symbols: universe.symbols }
}

const FASTEST = 1_000_000

/** The symbols of the series form the universe, because other symbols have no bars. */
const historyInput = async (
  given: Configuration,
  { fromMs, toMs, data }: BacktestRequest,
  store: BarStore,
): Promise<Input> => {
  const stored = await store.list()
  const series = data.map((selector) => {
    const found = selectSeries(stored, selector)
    if (found.status === 'missing') {
      throw new Failure('data.not_found', found.reason, { advice: 'See "svc data list".' })
    }
    return { symbol: canonicalSymbol(found.source.symbol), ...found }
  })
  const [first] = series
  const symbols = series.map(({ symbol }) => symbol)
  if (first === undefined || new Set(symbols).size < symbols.length) {
    throw new Failure('request.invalid', `--data names ${symbols.join(', ')}: each coin may be there once`)
  }
  if (series.some(({ seconds }) => seconds !== first.seconds)) {
    throw new Failure('request.invalid', 'all series of --data must have bars of one length')
  }
  const settings =
    series.length === 1
      ? settingsForSymbol(given, first.symbol)
      : { ...given, universe: { ...given.universe, symbols } }
  const range = { toMs: toMs ?? undefined }
  const read = stored.filter((one) => series.some(({ source }) => source === one))
  return {
    fromMs,
    toMs,
    progress: {
      fromMs: Math.min(...read.map(({ firstOpenMs }) => firstOpenMs)),
      toMs: toMs ?? Math.max(...read.map(({ lastOpenMs }) => lastOpenMs)),
    },
    market: 'data',
    feed: createHistoryFeed({
      seconds: first.seconds,
      series: series.map(({ symbol, source, seconds }) => ({
        symbol,
        months: () =>
          seconds === source.seconds
            ? store.read(source, range)
            : store.readResampled(source, seconds, range),
      })),
      timer: new RecordedTimer(0),
    }),
    producers: BUILT_IN_PRODUCERS,
    settings,
  }
}

/** Bars of the analysed length, with enough warm-up before the run. */
const simulatedInput = (given: Configuration, request: SeededRequest): Input => {
  const { ta } = given
  const { fromMs, toMs } = simulatedRange(request)
  const market = {
    ...given.market,
    feed: 'simulated',
    seed: request.seed,
    bar_seconds: ta.bar_seconds,
    tick_seconds: ta.bar_seconds % STEP_SECONDS === 0 ? STEP_SECONDS : given.market.tick_seconds,
    warmup_hours: Math.ceil((WARM_UP_BARS * ta.bar_seconds) / 3600),
  } as const
  return {
    fromMs,
    toMs,
    progress: { fromMs, toMs },
    market: 'simulated',
    feed: createSimulatedFeed({ settings: market, timer: new RecordedTimer(fromMs), sha256Hex }),
    producers: BUILT_IN_PRODUCERS,
    settings: { ...given, market },
  }
}

const STEP_SECONDS = 60

/** Defaults to a fixed month, so that a repeated run gives the same result. */
export const simulatedRange = ({ fromMs, toMs }: Pick<BacktestRequest, 'fromMs' | 'toMs'>) => {
  const from = fromMs ?? (toMs === null ? SIMULATED_FROM_MS : toMs - SIMULATED_MS)
  return { fromMs: from, toMs: toMs ?? from + SIMULATED_MS }
}

const SIMULATED_FROM_MS = Date.UTC(2026, 0, 1)
const SIMULATED_MS = 30 * DAY_MS
