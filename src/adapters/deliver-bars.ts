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
 * feed stopped before.
 */
export const deliverBars = async (
  bars: readonly FeedBar[],
  { listener, timer, signal, onFailure }: DeliveryDependencies,
): Promise<boolean> => {
  while (!signal.aborted) {
    try {
      await listener.onBars(bars)
      return true
    } catch (error) {
      onFailure(`could not store bars, will retry: ${error instanceof Error ? error.message : String(error)}`)
      await timer.wait(RETRY_MS, signal)
    }
  }
  return false
}

const RETRY_MS = 1000
