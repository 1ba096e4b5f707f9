import type { Timestamp } from '../../core/shared/brand.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { isSettlementDue } from '../../core/treasury/settle.ts'
import { isLearningDue } from '../../core/brain/learning.ts'
import { isOver, liveIntentsOf } from '../../core/trading/intents.ts'
import { isOwnCode, mayRun, type Producer as RegisteredProducer } from '../../core/signals/producers.ts'
import { isAnyOverdue } from '../../core/reputation/settle-calls.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { derivedId } from '../../core/shared/derived-id.ts'
import type { Timer } from '../../ports/timer.ts'
import type { Executor } from '../plan.ts'
import { NOTHING_AWAITED, type Arrivals, type Awaited } from './arrivals.ts'
import { sha256Hex } from '../sha256.ts'

export interface ScheduleDependencies {
  readonly engine: Executor
  readonly timer: Timer
  readonly configuration: () => Configuration
  /** The venue that reports funding payments itself; undefined without one. */
  readonly fundingReportedBy?: () => string | undefined
  /** Polls a registered producer and records its answer. Never rejects. */
  readonly poll: (producer: RegisteredProducer, signal: AbortSignal) => Promise<void>
  /** The bars that a cycle is about; undefined without a feed. */
  readonly bars?: Arrivals | undefined
  readonly onError: (what: string, error: unknown) => void
}

export interface Schedule {
  /** Waits for polls and commands that are under way. */
  close(): Promise<void>
}

const STEP_MS = 1000
const POLLS_AT_ONCE = 8
/** 00:00, 08:00 and 16:00 UTC. */
const FUNDING_PERIOD_MS = 28_800_000

/** Everything that the clock triggers: brain cycles, polls of producers, expiry, funding, learning and settlement. */
export const startSchedule = (dependencies: ScheduleDependencies): Schedule => {
  const closing = new AbortController()
  const { timer, onError } = dependencies
  const polls = new Polls(dependencies, closing.signal)
  const loop = async (): Promise<void> => {
    let beforeMs = timer.now()
    while (!closing.signal.aborted) {
      await timer.wait(STEP_MS - (timer.now() % STEP_MS), closing.signal)
      const nowMs = timer.now()
      // The clock was set back: everything up to then has run already.
      if (closing.signal.aborted || nowMs <= beforeMs) continue
      try {
        if (isNewMinute(beforeMs, nowMs)) polls.begin(beforeMs, nowMs)
        const awaited = await awaitInputs({ ...dependencies, polls }, beforeMs, nowMs, closing.signal)
        if (closing.signal.aborted) return
        await runDueTasks(dependencies, beforeMs, nowMs)
        await runDueCycle(dependencies, beforeMs, nowMs, { trigger: 'schedule', awaited })
      } catch (error) {
        onError('a scheduled task failed', error)
      }
      beforeMs = nowMs
    }
  }
  const running = loop()
  return {
    close: async () => {
      closing.abort()
      await running
      await polls.settled()
    },
  }
}

/**
 * Waits until the bars that closed now are stored and the producers that are due have run, so that a cycle knows what
 * the same cycle of a backtest knows. A bar or a producer that is late delays it up to the deadline.
 */
const awaitInputs = async (
  { timer, configuration, bars, polls }: ScheduleDependencies & { readonly polls: Polls },
  beforeMs: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<Awaited> => {
  const { brain, market } = configuration()
  const intervalMs = brain.cycle_interval_seconds * 1000
  const isMinute = isNewMinute(beforeMs, nowMs)
  const isWorkDue = isMinute || newestOnGrid(nowMs, intervalMs) > beforeMs
  if (!isWorkDue) return NOTHING_AWAITED
  const closeMs = newestOnGrid(nowMs, market.bar_seconds * 1000)
  const due = closeMs > beforeMs ? bars : undefined
  const leftMs = newestOnGrid(nowMs, STEP_MS) + deadlineMsOf(brain) - timer.now()
  const done = new AbortController()
  const everything = Promise.all([due?.arrived(closeMs), isMinute ? polls.finished() : undefined])
  await Promise.race([everything, timer.wait(leftMs, AbortSignal.any([signal, done.signal]))])
  done.abort()
  const ofBars = due?.arrivedBy(closeMs) ?? NOTHING_AWAITED
  const ofPolls = isMinute ? polls.round() : { finished: [], late: [] }
  return {
    bar: ofBars.bar,
    producers: [...ofBars.producers, ...ofPolls.finished],
    late_producers: [...ofBars.late_producers, ...ofPolls.late],
  }
}

/** A cycle that waits does not reach into the next one. */
const deadlineMsOf = (brain: Configuration['brain']): number =>
  Math.min(brain.cycle_deadline_seconds, brain.cycle_interval_seconds) * 1000

const newestOnGrid = (ms: number, gridMs: number): number => Math.floor(ms / gridMs) * gridMs

type DueDependencies = Pick<ScheduleDependencies, 'engine' | 'configuration' | 'fundingReportedBy'>

/** Everything that is due by now except a brain cycle. */
export const runDueTasks = async (
  { engine, configuration, fundingReportedBy }: DueDependencies,
  beforeMs: number,
  nowMs: number,
): Promise<void> => {
  if (isNewMinute(beforeMs, nowMs)) {
    await engine.execute({ kind: 'notice-stale-producers' })
    const { book, orders } = engine.state.trading
    if (book.count > 0 || orders.open.size > 0) await engine.execute({ kind: 'check-positions' })
    // In batches: many calls may have waited for a price that never came.
    while (isAnyOverdue(engine.state.reputation.calls, timestampAt(nowMs), configuration().settlement)) {
      const outcome = await engine.execute({ kind: 'settle-overdue' })
      if (outcome.status === 'refused' || outcome.events.length === 0) break
    }
    if (isSettlementDue(engine.state.treasury, configuration(), timestampAt(nowMs))) {
      await engine.execute({ kind: 'settle-due-shares' })
    }
  }
  const fundingMs = Math.floor(nowMs / FUNDING_PERIOD_MS) * FUNDING_PERIOD_MS
  if (fundingMs > beforeMs && engine.state.trading.book.count > 0) {
    const at = timestampAt(fundingMs)
    await engine.execute({ kind: 'apply-funding', at, reportedBy: fundingReportedBy?.() })
  }
  await learnIfDue(engine, configuration(), nowMs)
  if (hasOverdueIntent(engine, timestampAt(nowMs))) await engine.execute({ kind: 'expire-intents' })
}

const isNewMinute = (beforeMs: number, nowMs: number): boolean =>
  Math.floor(nowMs / 60_000) > Math.floor(beforeMs / 60_000)

/** On a fixed grid; missed runs are made up for by one. */
const learnIfDue = async (engine: Executor, { learning }: Configuration, nowMs: number): Promise<void> => {
  const intervalMs = learning.interval_seconds * 1000
  const dueMs = Math.floor(nowMs / intervalMs) * intervalMs
  if (!learning.enabled || !isLearningDue(engine.state.brain.learning, dueMs, dueMs + intervalMs)) return
  const cause = { trigger: 'schedule', due: timestampAt(dueMs) } as const
  await engine.execute({ kind: 'run-learning', cause })
}

const hasOverdueIntent = (engine: Executor, now: Timestamp): boolean =>
  liveIntentsOf(engine.state.trading.intents).some(({ intent }) => isOver(intent, now))

/** Missed cycles are not made up for. Before the first signal there is no cycle. */
export const runDueCycle = async (
  { engine, configuration }: Pick<ScheduleDependencies, 'engine' | 'configuration'>,
  beforeMs: number,
  nowMs: number,
  cycle: { readonly trigger: 'schedule' | 'backtest'; readonly awaited?: Awaited },
): Promise<void> => {
  const gridMs = newestOnGrid(nowMs, configuration().brain.cycle_interval_seconds * 1000)
  if (gridMs <= beforeMs) return
  const { signals, brain, trading } = engine.state
  if (signals.latest.signals.size === 0 && !brain.staleness.everScored) return
  // As old as they are at its time: it may have waited. After a pause its time is long over.
  const asOf = timestampAt(nowMs - gridMs < LATE_MS_MAX ? gridMs : nowMs)
  if (trading.killSwitch.level >= 2) {
    await engine.execute({ kind: 'watch-regime', asOf })
    return
  }
  const cycleId = derivedId('cycle', timestampAt(gridMs), sha256Hex)
  await engine.execute({ kind: 'run-cycle', cycleId, asOf, ...cycle }, { traceId: cycleId })
}

/** A cycle that starts this long after its time was not waiting: the process did not run. */
const LATE_MS_MAX = 60_000

/** Polls under way: one at a time for each producer, and at most POLLS_AT_ONCE in total. */
class Polls {
  readonly #dependencies: ScheduleDependencies
  readonly #signal: AbortSignal
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, RegisteredProducer>()
  /** Due in this minute. */
  #due: readonly string[] = []
  #onFinished: (() => void)[] = []

  constructor(dependencies: ScheduleDependencies, signal: AbortSignal) {
    this.#dependencies = dependencies
    this.#signal = signal
  }

  begin(afterMs: number, upToMs: number): void {
    const { registered, runs } = this.#dependencies.engine.state.signals.producers
    const now = timestampAt(upToMs)
    const due = [...registered].filter(
      ([name, { schedule, endpoint }]) =>
        !isOwnCode(endpoint) && mayRun(runs.get(name), now) && firesBetween(schedule, afterMs, upToMs),
    )
    this.#due = due.map(([name]) => name)
    // Whoever waited for the minute before does so no longer.
    this.#onFinished = []
    for (const [name, producer] of due) if (!this.#underWay.has(name)) this.#waiting.set(name, producer)
    this.#next()
  }

  /** Resolves when those that are due in this minute have finished. */
  finished(): Promise<void> {
    if (this.round().late.length === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onFinished.push(resolve))
  }

  round(): { readonly finished: readonly string[]; readonly late: readonly string[] } {
    const isLate = (name: string): boolean => this.#underWay.has(name) || this.#waiting.has(name)
    return { finished: this.#due.filter((name) => !isLate(name)), late: this.#due.filter(isLate) }
  }

  async settled(): Promise<void> {
    this.#waiting.clear()
    await Promise.all(this.#underWay.values())
  }

  #next(): void {
    const { registered } = this.#dependencies.engine.state.signals.producers
    for (const [name, producer] of this.#waiting) {
      if (this.#underWay.size >= POLLS_AT_ONCE || this.#signal.aborted) return
      this.#waiting.delete(name)
      // Removed, or registered anew, while it waited.
      if (registered.get(name)?.registeredAt !== producer.registeredAt) continue
      const poll = this.#dependencies.poll(producer, this.#signal).finally(() => {
        this.#underWay.delete(name)
        this.#next()
        if (this.round().late.length > 0) return
        for (const resolve of this.#onFinished.splice(0)) resolve()
      })
      this.#underWay.set(name, poll)
    }
  }
}
