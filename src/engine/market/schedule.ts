import type { Timestamp } from '../../core/shared/brand.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { isSettlementDue } from '../../core/treasury/settle.ts'
import { isLearningDue } from '../../core/brain/learning.ts'
import { isOver, liveIntentsOf } from '../../core/trading/orders/intents.ts'
import { isOwnCode, mayRun, type RegisteredProducer } from '../../core/signals/producers.ts'
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
  /** Returns the venue that reports funding payments itself, or undefined. */
  readonly fundingReportedBy?: () => string | undefined
  /** Polls a registered producer and records its answer. Never rejects. */
  readonly poll: (producer: RegisteredProducer, signal: AbortSignal) => Promise<void>
  /** Bars that a cycle waits for; undefined without a feed. */
  readonly bars?: Arrivals | undefined
  readonly onError: (what: string, error: unknown) => void
}

export interface Schedule {
  /** Waits for running polls and commands. */
  close(): Promise<void>
}

const STEP_MS = 1000
const POLLS_AT_ONCE = 8
/** Funding is due at 00:00, 08:00 and 16:00 UTC. */
const FUNDING_PERIOD_MS = 28_800_000

/** Tasks of the clock, except those of orders at a venue (`OrderRouter`): brain cycles, polls of producers, expiry, funding, learning and settlement. */
export const startSchedule = (dependencies: ScheduleDependencies): Schedule => {
  const closing = new AbortController()
  const { timer, onError } = dependencies
  const polls = new Polls(dependencies, closing.signal)
  const loop = async (): Promise<void> => {
    let beforeMs = timer.now()
    while (!closing.signal.aborted) {
      await timer.wait(STEP_MS - (timer.now() % STEP_MS), closing.signal)
      const nowMs = timer.now()
      // The clock was set back, so all tasks up to that time have run already.
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
 * Waits until the bars that closed now are stored and the due producers have run, so that a cycle has the same inputs
 * as in a backtest. Late bars or producers delay the cycle up to the deadline.
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

/** A waiting cycle must not overlap the next one. */
const deadlineMsOf = (brain: Configuration['brain']): number =>
  Math.min(brain.cycle_deadline_seconds, brain.cycle_interval_seconds) * 1000

const newestOnGrid = (ms: number, gridMs: number): number => Math.floor(ms / gridMs) * gridMs

type DueDependencies = Pick<ScheduleDependencies, 'engine' | 'configuration' | 'fundingReportedBy'>

/** Runs all due tasks except a brain cycle. */
export const runDueTasks = async (
  { engine, configuration, fundingReportedBy }: DueDependencies,
  beforeMs: number,
  nowMs: number,
): Promise<void> => {
  const now = timestampAt(nowMs)
  if (isNewMinute(beforeMs, nowMs)) {
    if (engine.state.signals.producers.runs.size > 0) await engine.execute({ kind: 'notice-stale-producers' })
    const { book, orders } = engine.state.trading
    if (book.count > 0 || orders.open.size > 0) {
      const checked = engine.execute({ kind: 'check-positions' })
      if (checked instanceof Promise) await checked
    }
    // Settles in batches, because many calls may have waited for a price that never came.
    while (isAnyOverdue(engine.state.reputation.calls, now, configuration().settlement)) {
      const outcome = await engine.execute({ kind: 'settle-overdue' })
      if (outcome.status === 'refused' || outcome.events.length === 0) break
    }
    if (isSettlementDue(engine.state.treasury, configuration(), now)) {
      await engine.execute({ kind: 'settle-due-shares' })
    }
  }
  const fundingMs = Math.floor(nowMs / FUNDING_PERIOD_MS) * FUNDING_PERIOD_MS
  if (fundingMs > beforeMs && engine.state.trading.book.count > 0) {
    const at = timestampAt(fundingMs)
    await engine.execute({ kind: 'apply-funding', at, reportedBy: fundingReportedBy?.() })
  }
  const learning = learnIfDue(engine, configuration(), nowMs)
  if (learning !== null) await learning
  if (hasOverdueIntent(engine, now)) await engine.execute({ kind: 'expire-intents' })
}

const isNewMinute = (beforeMs: number, nowMs: number): boolean =>
  Math.floor(nowMs / 60_000) > Math.floor(beforeMs / 60_000)

/** Runs learning on a fixed grid. One run replaces any number of missed ones. */
const learnIfDue = (
  engine: Executor,
  { learning }: Configuration,
  nowMs: number,
): ReturnType<Executor['execute']> | null => {
  const intervalMs = learning.interval_seconds * 1000
  const dueMs = Math.floor(nowMs / intervalMs) * intervalMs
  if (!learning.enabled || !isLearningDue(engine.state.brain.learning, dueMs, dueMs + intervalMs)) return null
  const cause = { trigger: 'schedule', due: timestampAt(dueMs) } as const
  return engine.execute({ kind: 'run-learning', cause })
}

const hasOverdueIntent = (engine: Executor, now: Timestamp): boolean =>
  liveIntentsOf(engine.state.trading.intents).some(({ intent }) => isOver(intent, now))

/** Runs a due cycle. Missed cycles are not repeated. There is no cycle before the first signal. */
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
  // Signals are aged as of the cycle's time on the grid, since the cycle may have waited for its inputs. After a pause
  // of the process that time is outdated, so the current time is used.
  const asOf = timestampAt(nowMs - gridMs < LATE_MS_MAX ? gridMs : nowMs)
  if (trading.killSwitch.level >= 2) {
    await engine.execute({ kind: 'watch-regime', asOf })
    return
  }
  const cycleId = derivedId('cycle', timestampAt(gridMs), sha256Hex)
  await engine.execute({ kind: 'run-cycle', cycleId, asOf, ...cycle }, { traceId: cycleId })
}

/** A delay beyond this means that the process was not running, not that the cycle waited. */
const LATE_MS_MAX = 60_000

/** Running polls: one at a time for each producer, and at most POLLS_AT_ONCE in total. */
class Polls {
  readonly #dependencies: ScheduleDependencies
  readonly #signal: AbortSignal
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, RegisteredProducer>()
  /** Names of the producers that are due in this minute. */
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
    // Callers that waited for the previous minute are dropped, since their cycle has passed.
    this.#onFinished = []
    for (const [name, producer] of due) if (!this.#underWay.has(name)) this.#waiting.set(name, producer)
    this.#next()
  }

  /** Resolves once all producers that are due in this minute have finished. */
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
      // The producer was removed or registered again while it waited.
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
