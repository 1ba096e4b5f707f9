import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, MarketFeed } from '../../../ports/market-feed.ts'
import { startedOnce, type RunningFeed } from '../../feed.ts'
import { createBarFollower, createDelivery, type Cursor } from './bars.ts'
import { planBackfill } from './candles.ts'
import { createExchangeClock, type ExchangeClock } from './exchange-clock.ts'
import {
  backoffMs,
  createErrorReports,
  messageOf,
  openExchange,
  type ErrorReports,
  type Exchange,
  type ExchangeOptions,
} from './exchange.ts'
import { chooseMarkets, type WatchedSymbol } from './markets.ts'
import { createSideValues } from './side-values.ts'
import { followTicks } from './ticks.ts'

export interface CcxtFeedDependencies extends Omit<ExchangeOptions, 'names' | 'signal'> {
  /** History to fetch on the first start of a symbol. */
  readonly warmupHours: number
}

/**
 * A real exchange. A start rejects only for what waiting does not fix: an unknown exchange, one without bars of that
 * length, a library that is not installed. While the exchange is down the feed is `failing`, retries, and then delivers
 * what was missed.
 */
export const createCcxtFeed = (dependencies: CcxtFeedDependencies): MarketFeed =>
  startedOnce({ name: `ccxt:${dependencies.exchange}`, producers: [] }, (from, listener) =>
    openSession(dependencies, from, listener),
  )

/** Its start is over when the history is delivered, or the exchange turns out to be down. */
const openSession = (
  dependencies: CcxtFeedDependencies,
  from: FeedStart,
  listener: FeedListener,
): RunningFeed => {
  const { timer } = dependencies
  const abort = new AbortController()
  const { signal } = abort
  const errors = createErrorReports(listener, signal)
  const { deliver, lastBarAtMs } = createDelivery(listener, timer, signal, errors)
  let exchange: Exchange | null = null
  let clock: ExchangeClock | null = null
  let isStopped = false

  const run = async (onStarted: () => void): Promise<void> => {
    exchange = await openExchange({ ...dependencies, signal })
    clock = createExchangeClock(exchange, timer, errors)
    const watched = await loadMarkets(exchange, dependencies, from, { signal, errors, onFailure: onStarted })
    await clock.refresh()
    const shared = { exchange, clock, timer, signal, listener, errors, deliver }
    const follower = createBarFollower(
      { ...shared, sideValuesOf: createSideValues(shared) },
      cursorsOf(exchange, clock.now(), watched, dependencies.warmupHours, from),
    )
    await follower.catchUp()
    onStarted()
    await Promise.all([follower.follow(), followTicks(shared, watched)])
  }

  let ended: Promise<void> = Promise.resolve()
  const started = new Promise<void>((resolve, reject) => {
    ended = run(resolve).then(resolve, (error: unknown) => {
      // Before the start, the caller gets it too; afterwards only the status has it.
      errors.raise('broken', `the feed stopped working: ${messageOf(error)}`)
      reject(error instanceof Error ? error : new Error(messageOf(error)))
    })
  })

  return {
    started,
    status: () => {
      const error = errors.current()
      const running = error === null ? 'running' : 'failing'
      return {
        state: isStopped ? 'stopped' : running,
        lastBarAtMs: lastBarAtMs(),
        clockOffsetMs: clock?.offsetMs() ?? null,
        error,
      }
    },
    stop: async () => {
      abort.abort()
      await exchange?.closeSockets()
      await ended
      isStopped = true
    },
  }
}

interface LoadContext {
  readonly signal: AbortSignal
  readonly errors: ErrorReports
  readonly onFailure: () => void
}

/** Requests the markets until the exchange responds. */
const loadMarkets = async (
  { api, request }: Exchange,
  { exchange: id, timer }: CcxtFeedDependencies,
  { symbols }: FeedStart,
  { signal, errors, onFailure }: LoadContext,
): Promise<readonly WatchedSymbol[]> => {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      // Always reloads: the library would keep a first failure.
      const { watched, missing } = await request(async () =>
        chooseMarkets(await api.loadMarkets(true), symbols),
      )
      errors.clear('markets')
      if (missing.length > 0) {
        errors.report(`${id} has no dollar market for ${missing.join(', ')}: these symbols get no prices`)
      }
      return watched
    } catch (error) {
      errors.raise('markets', `could not load the markets of ${id}, will retry: ${messageOf(error)}`)
      onFailure()
      await timer.wait(backoffMs(failures), signal)
    }
  }
  return []
}

const cursorsOf = (
  { resolution, warmupResolution }: Exchange,
  nowMs: number,
  watched: readonly WatchedSymbol[],
  warmupHours: number,
  { lastBars }: FeedStart,
): readonly Cursor[] => {
  const stored = new Map([...lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), bar]))
  return watched.map((entry) => {
    const last = stored.get(canonicalSymbol(entry.symbol))
    const plan = planBackfill({
      nowMs,
      barMs: resolution.seconds * 1000,
      lastCloseMs: last === undefined ? null : Date.parse(last.close_ts),
      warmupHours,
      warmupBarMs: warmupResolution === null ? null : warmupResolution.seconds * 1000,
    })
    return { watched: entry, ...plan }
  })
}
