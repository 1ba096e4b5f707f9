import type { FeedBar } from '../core/market/bar.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Timer } from '../ports/timer.ts'

// Start, stop and delivery, shared by feeds of all kinds.

/** A started feed. It ends when all of its resources are closed. */
export interface RunningFeed extends Pick<MarketFeed, 'status' | 'stop'> {
  /** Resolves when the history is delivered; rejects where the feed cannot start at all. */
  readonly started: Promise<void>
}

/** A feed that may be started once. */
export const startedOnce = (
  { name, producers }: Pick<MarketFeed, 'name' | 'producers'>,
  open: (from: FeedStart, listener: FeedListener) => RunningFeed,
): MarketFeed => {
  let running: RunningFeed | null = null
  let isStopped = false
  return {
    name,
    producers,
    start: async (from, listener) => {
      if (running !== null || isStopped) throw new Error('the feed was already started: create a new one')
      running = open(from, listener)
      await running.started
    },
    status: () => running?.status() ?? (isStopped ? { ...IDLE, state: 'stopped' } : IDLE),
    stop: async () => {
      isStopped = true
      await running?.stop()
    },
  }
}

export const IDLE: FeedStatus = { state: 'idle', lastBarAtMs: null, clockOffsetMs: null, error: null }

export interface DeliveryDependencies {
  readonly listener: FeedListener
  readonly timer: Timer
  readonly signal: AbortSignal
  readonly onFailure: (message: string) => void
}

/**
 * Delivers bars that closed together, again until they are stored: a lost bar would be a gap for good. False when the
 * feed stopped before. No promise if they were stored at once.
 */
export const deliverBars = (
  bars: readonly FeedBar[],
  dependencies: DeliveryDependencies,
): Promise<boolean> | boolean => {
  const { listener, signal } = dependencies
  if (signal.aborted) return false
  const stored = listener.onBars(bars)
  // Most bars of a backtest are stored at once and need no promise.
  return stored === undefined || untilStored(stored, bars, dependencies)
}

const untilStored = async (
  first: Promise<void>,
  bars: readonly FeedBar[],
  { listener, timer, signal, onFailure }: DeliveryDependencies,
): Promise<boolean> => {
  for (let stored: Promise<void> | undefined = first; ; stored = listener.onBars(bars)) {
    try {
      await stored
      return true
    } catch (error) {
      onFailure(`could not store bars, will retry: ${error instanceof Error ? error.message : String(error)}`)
      await timer.wait(RETRY_MS, signal)
    }
    if (signal.aborted) return false
  }
}

const RETRY_MS = 1000
