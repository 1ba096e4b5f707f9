import type { Configuration } from '../../core/config/schema.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { FeedListener, MarketFeed } from '../../ports/market-feed.ts'
import type { Executor } from '../plan.ts'
import type { ReplayTime } from '../replay-time.ts'
import type { Arrivals } from './arrivals.ts'
import { runDueCycle, runDueTasks } from './schedule.ts'

export interface ReplayDependencies {
  readonly engine: Executor
  readonly time: ReplayTime
  readonly configuration: () => Configuration
  /** The receiver of the bars, and a promise that resolves once it has started. */
  readonly runner: () => { readonly arrivals: Arrivals; readonly started: Promise<void> }
  readonly onError: (what: string, error: unknown) => void
}

/**
 * A feed of recorded bars that replaces the schedule. Time advances with its bars, and due tasks run after a bar is
 * stored and its producers have run. The result therefore does not depend on the speed of the feed.
 */
export const replaying = (feed: MarketFeed, dependencies: ReplayDependencies): MarketFeed => {
  const replay = new BarReplay(dependencies)
  return {
    name: feed.name,
    producers: feed.producers,
    status: () => feed.status(),
    stop: () => feed.stop(),
    start: (from, listener) =>
      feed.start(from, {
        onBars: (bars) => replay.take(bars, listener),
        onTick: (tick) => listener.onTick(tick),
        onError: (message) => listener.onError(message),
      }),
  }
}

class BarReplay {
  readonly #dependencies: ReplayDependencies
  #decidedMs: number | null = null

  constructor(dependencies: ReplayDependencies) {
    this.#dependencies = dependencies
  }

  async take(bars: readonly FeedBar[], listener: FeedListener): Promise<void> {
    const { time, runner } = this.#dependencies
    const [first] = bars
    if (first === undefined) return
    const closeMs = Date.parse(first.close_ts)
    if (closeMs < time.now()) {
      throw new Error(
        `these bars closed at ${first.close_ts}, but the log of this home is at ${timestampAt(time.now())}: replay ` +
          'them in a fresh home (SVC_HOME)',
      )
    }
    const isPast = bars.every(({ backfill }) => backfill)
    if (!isPast) {
      await runner().started
      await this.#passTo(Date.parse(first.open_ts), first.resolution_s * 1000)
    }
    time.moveTo(closeMs)
    await listener.onBars(bars)
    if (!isPast) await this.#decide(closeMs, first.resolution_s * 1000)
  }

  /** Time without bars passes in steps of the length of a bar. */
  async #passTo(openMs: number, stepMs: number): Promise<void> {
    const { time } = this.#dependencies
    for (let ms = (this.#decidedMs ?? openMs) + stepMs; ms <= openMs; ms += stepMs) {
      time.moveTo(ms)
      await this.#decide(ms, stepMs)
    }
  }

  async #decide(nowMs: number, stepMs: number): Promise<void> {
    const { runner, onError } = this.#dependencies
    const beforeMs = this.#decidedMs ?? nowMs - stepMs
    this.#decidedMs = nowMs
    try {
      await runDueTasks(this.#dependencies, beforeMs, nowMs)
      const awaited = runner().arrivals.arrivedBy(nowMs)
      await runDueCycle(this.#dependencies, beforeMs, nowMs, { trigger: 'schedule', awaited })
    } catch (error) {
      onError('a scheduled task failed', error)
    }
  }
}
