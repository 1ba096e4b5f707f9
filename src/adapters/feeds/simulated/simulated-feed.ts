import type { Sha256Hex } from '../../../core/log/hash-chain.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { deliverBars, startedOnce, type RunningFeed } from '../../feed.ts'
import { createBarMaker } from './bars.ts'
import { createDraws } from './draws.ts'
import { createPath, type MarketSettings, type Path } from './path.ts'
import { hiddenSymbolsOf, simulatedProducers, type HiddenMarket } from './producers.ts'
import { timestampAt } from '../../../core/shared/time.ts'

interface SimulatedFeedDependencies {
  readonly settings: MarketSettings
  readonly timer: Timer
  readonly sha256Hex: Sha256Hex
}

/** A simulated market in real time. The same seed gives the same prices. */
export const createSimulatedFeed = (dependencies: SimulatedFeedDependencies): MarketFeed => {
  const { settings, timer, sha256Hex } = dependencies
  /** The market at the close of the two newest bars, oldest first. */
  let hiddenMarkets: readonly (HiddenMarket & { readonly closeMs: number })[] = []
  // On recorded time the path advances while producers still read the previous bar.
  const hiddenMarketAt = (ms: number): HiddenMarket | null =>
    hiddenMarkets.findLast(({ closeMs }) => closeMs <= ms) ?? hiddenMarkets[0] ?? null

  const open = ({ symbols, segment, lastBars }: FeedStart, listener: FeedListener): RunningFeed => {
    const stored = new Map([...lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), bar]))
    const path = createPath({ settings, segment, symbols, lastBars: stored, sha256Hex })
    const drawsOf = (stream: string) => createDraws(settings.seed, segment, stream, sha256Hex)
    const plan = planStart({
      nowMs: timer.now(),
      barSeconds: settings.bar_seconds,
      warmupHours: settings.warmup_hours,
      lastCloseMs: newestCloseMs(stored),
    })
    const onClose = (closeMs: number): void => {
      hiddenMarkets = [...hiddenMarkets.slice(-1), { closeMs, symbols: hiddenSymbolsOf(path), drawsOf }]
    }
    return startSimulation({ settings, path, timer, listener, onClose }, plan)
  }

  return startedOnce({ name: 'simulated', producers: simulatedProducers(hiddenMarketAt) }, open)
}

const newestCloseMs = (bars: ReadonlyMap<string, FeedBar>): number | null =>
  bars.size === 0 ? null : Math.max(...[...bars.values()].map(({ close_ts }) => Date.parse(close_ts)))

export interface StartPlan {
  /** Coarse bars before the first bar of the ordinary length. */
  readonly warmup: { readonly openMs: number; readonly resolutionSeconds: number; readonly count: number }
  /** Open time of the first bar of the ordinary length. */
  readonly openMs: number
}

export interface StartInput {
  readonly nowMs: number
  readonly barSeconds: number
  readonly warmupHours: number
  /** Close time of the newest stored bar; null for a store without bars. */
  readonly lastCloseMs: number | null
}

/** Plans the start of a path: with the warm-up on an empty store, else after the stored bars. */
export const planStart = ({ nowMs, barSeconds, warmupHours, lastCloseMs }: StartInput): StartPlan => {
  const barMs = barSeconds * 1000
  const warmupMs = WARMUP_BAR_SECONDS * 1000
  const warmup = { openMs: 0, resolutionSeconds: WARMUP_BAR_SECONDS, count: 0 }
  if (lastCloseMs !== null) {
    const openMs = Math.ceil(lastCloseMs / barMs) * barMs
    return { warmup: { ...warmup, openMs }, openMs }
  }
  const currentMs = Math.floor(nowMs / barMs) * barMs
  const count = (warmupHours * 3600) / WARMUP_BAR_SECONDS
  if (count === 0) return { warmup: { ...warmup, openMs: currentMs }, openMs: currentMs }
  const endMs = Math.floor(currentMs / warmupMs) * warmupMs
  return {
    warmup: { ...warmup, openMs: endMs - count * warmupMs, count },
    openMs: Math.ceil(endMs / barMs) * barMs,
  }
}

/** The next bar to make if `openMs` were next. After a long pause only the newest bars are made up. */
export const catchUpFrom = (openMs: number, nowMs: number, barSeconds: number): number => {
  const barMs = barSeconds * 1000
  return Math.max(openMs, Math.floor(nowMs / barMs) * barMs - CATCH_UP_BARS_MAX * barMs)
}

const WARMUP_BAR_SECONDS = 900
export const CATCH_UP_BARS_MAX = 240

interface SimulationDependencies {
  readonly settings: Pick<MarketSettings, 'tick_seconds' | 'bar_seconds'>
  readonly path: Path
  readonly timer: Timer
  readonly listener: FeedListener
  /** Called after bars have closed and before they are delivered. */
  readonly onClose: (closeMs: number) => void
}

/** Steps a path along the clock: past steps at once, each later step when it is due. */
const startSimulation = (dependencies: SimulationDependencies, plan: StartPlan): RunningFeed => {
  const { settings, path, timer, listener, onClose } = dependencies
  const abort = new AbortController()
  const { signal } = abort
  const barMaker = createBarMaker(path)
  const tickMs = settings.tick_seconds * 1000
  const barMs = settings.bar_seconds * 1000
  const startedMs = timer.now()
  /** End of the last step. */
  let pathMs = plan.warmup.openMs
  let stepsInARow = 0
  let isStopped = false
  let lastBarAtMs: number | null = null
  let error: string | null = null

  const onFailure = (message: string): void => {
    if (error !== message) listener.onError(message)
    error = message
  }

  const waitUntil = async (dueMs: number): Promise<void> => {
    for (let leftMs = dueMs - timer.now(); leftMs > 0 && !signal.aborted; leftMs = dueMs - timer.now()) {
      if (leftMs > 2 * Math.max(tickMs, barMs)) {
        onFailure(
          `this machine's clock is behind the newest bar: the simulated market stands still until ${timestampAt(dueMs)}`,
        )
      }
      // Waits in parts, because the clock may be set forward meanwhile.
      await timer.wait(Math.min(leftMs, WAIT_MS_MAX), signal)
    }
  }

  const step = async (): Promise<void> => {
    path.step()
    barMaker.add()
    pathMs += tickMs
    // Past ticks would make the mark price flicker.
    if (pathMs + tickMs > timer.now()) {
      for (const { symbol, price } of path.symbols) listener.onTick({ symbol, price, atMs: pathMs })
    }
    stepsInARow += 1
    if (stepsInARow < STEPS_IN_A_ROW_MAX) return
    // Lets the event loop run: the steps of a long past bar are made at once.
    stepsInARow = 0
    await timer.wait(0, signal)
  }

  const makeBars = async (openMs: number, resolutionSeconds: number): Promise<void> => {
    const closeMs = openMs + resolutionSeconds * 1000
    for (let dueMs = pathMs + tickMs; dueMs <= closeMs; dueMs += tickMs) {
      await waitUntil(dueMs)
      if (signal.aborted) return
      await step()
    }
    await waitUntil(closeMs)
    if (signal.aborted) return
    const backfill = closeMs <= startedMs || timer.now() - closeMs >= barMs
    const bars = barMaker.close({ openMs, resolutionSeconds, backfill })
    onClose(closeMs)
    if (!(await deliverBars(bars, { listener, timer, signal, onFailure }))) return
    lastBarAtMs = closeMs
    error = null
  }

  /** Makes the next bar and returns the open time of the one after it. */
  const makeNext = async (openMs: number): Promise<number> => {
    const fromMs = catchUpFrom(openMs, timer.now(), settings.bar_seconds)
    if (fromMs > openMs) {
      // Prices continue from their last values.
      pathMs = fromMs
      listener.onError(
        `the simulated market was paused: ${(fromMs - openMs) / barMs} bars from ${timestampAt(openMs)} to ` +
          `${timestampAt(fromMs)} are skipped`,
      )
    }
    await makeBars(fromMs, settings.bar_seconds)
    return fromMs + barMs
  }

  const makeHistory = async (): Promise<number> => {
    const { warmup } = plan
    for (let index = 0; index < warmup.count && !signal.aborted; index += 1) {
      await makeBars(warmup.openMs + index * warmup.resolutionSeconds * 1000, warmup.resolutionSeconds)
    }
    let nextMs = plan.openMs
    while (nextMs + barMs <= timer.now() && !signal.aborted) nextMs = await makeNext(nextMs)
    return nextMs
  }

  const follow = async (openMs: number): Promise<void> => {
    let nextMs = openMs
    while (!signal.aborted) nextMs = await makeNext(nextMs)
  }

  const history = makeHistory()
  // The caller of `start` receives the error of a failed history; `stop` only waits.
  let running: Promise<unknown> = Promise.allSettled([history])
  return {
    started: history.then((nextMs) => {
      running = follow(nextMs)
    }),
    status: () => ({
      state: isStopped ? 'stopped' : error === null ? 'running' : 'failing',
      lastBarAtMs,
      clockOffsetMs: null,
      error,
    }),
    stop: async () => {
      abort.abort()
      await running
      isStopped = true
    },
  }
}

const STEPS_IN_A_ROW_MAX = 1000
const WAIT_MS_MAX = 60_000
