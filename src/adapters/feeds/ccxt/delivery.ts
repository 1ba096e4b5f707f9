import type { FeedBar } from '../../../core/market/bar.ts'
import type { FeedListener } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import type { ErrorReports } from './errors.ts'
import { messageOf } from './values.ts'

export interface Delivery {
  /** Bars that closed together are told together, oldest first, and again until they are stored. */
  deliver(bars: readonly FeedBar[]): Promise<void>
  lastBarAtMs(): number | null
}

export interface DeliveryDependencies {
  readonly listener: FeedListener
  readonly timer: Timer
  readonly signal: AbortSignal
  readonly troubles: ErrorReports
}

export const createDelivery = ({ listener, timer, signal, troubles }: DeliveryDependencies): Delivery => {
  let lastBarAtMs: number | null = null

  const tell = async (bars: readonly FeedBar[], closeMs: number): Promise<void> => {
    while (!signal.aborted) {
      try {
        await listener.onBars(bars)
        lastBarAtMs = Math.max(lastBarAtMs ?? closeMs, closeMs)
        troubles.clear('store')
        return
      } catch (error) {
        troubles.raise('store', `bars are told again, as they were not stored: ${messageOf(error)}`)
        await timer.wait(RETRY_MS, signal)
      }
    }
  }

  return {
    deliver: async (bars) => {
      for (const [closeMs, together] of byCloseTime(bars)) await tell(together, closeMs)
    },
    lastBarAtMs: () => lastBarAtMs,
  }
}

const RETRY_MS = 1000

const byCloseTime = (bars: readonly FeedBar[]): readonly (readonly [number, readonly FeedBar[]])[] => {
  const groups = new Map<number, FeedBar[]>()
  for (const bar of bars) {
    const closeMs = Date.parse(bar.close_ts)
    const group = groups.get(closeMs)
    if (group === undefined) groups.set(closeMs, [bar])
    else group.push(bar)
  }
  return [...groups].sort(([left], [right]) => left - right)
}
