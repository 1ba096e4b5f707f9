import type { FeedBar } from '../core/market/bar.ts'
import type { FeedListener } from '../ports/market-feed.ts'
import type { Timer } from '../ports/timer.ts'

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
  // Most bars of a backtest are: they need no promise.
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
