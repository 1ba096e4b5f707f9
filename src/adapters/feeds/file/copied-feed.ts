import type { FeedBar } from '../../../core/market/bar.ts'
import type { FeedListener, FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { deliverBars, startedOnce, type RunningFeed } from '../../feed.ts'

/** What a feed delivered from a file, for backtests. */
export interface CopiedBars {
  /** Messages, each with the number of bars that were delivered before it. */
  readonly messages: readonly { readonly bars: number; readonly text: string }[]
  /** Bars in groups of one time, oldest first. Each part is read when the one before it was delivered. */
  readonly parts: () => AsyncIterable<Iterable<readonly FeedBar[]>>
}

/** Delivers the same bars and messages again, as fast as they are processed. */
export const createCopiedFeed = (copied: CopiedBars, timer: Timer): MarketFeed =>
  startedOnce({ name: 'file', producers: [] }, (_from, listener) => deliver(copied, timer, listener))

const deliver = ({ messages, parts }: CopiedBars, timer: Timer, listener: FeedListener): RunningFeed => {
  const abort = new AbortController()
  const { signal } = abort
  let state: FeedStatus['state'] = 'running'
  let lastCloseTs: string | null = null
  let error: string | null = null
  let reported = 0
  let count = 0
  const report = (): void => {
    for (let next = messages[reported]; next !== undefined && next.bars <= count; next = messages[reported]) {
      listener.onError(next.text)
      reported += 1
    }
  }
  const deliverAll = async (): Promise<void> => {
    const delivery = { listener, timer, signal, onFailure: (text: string) => listener.onError(text) }
    for await (const part of parts())
      for (const bars of part) {
        const stored = deliverBars(bars, delivery)
        if (stored !== true && !(await stored)) return
        lastCloseTs = bars[0]?.close_ts ?? lastCloseTs
        count += bars.length
        report()
      }
    state = 'ended'
  }
  report()
  const delivered = deliverAll().catch((cause: unknown) => {
    state = 'failing'
    error = cause instanceof Error ? cause.message : String(cause)
  })
  return {
    started: Promise.resolve(),
    status: () => ({
      state: signal.aborted ? 'stopped' : state,
      lastBarAtMs: lastCloseTs === null ? null : Date.parse(lastCloseTs),
      clockOffsetMs: null,
      error,
    }),
    stop: async () => {
      abort.abort()
      await delivered
    },
  }
}
