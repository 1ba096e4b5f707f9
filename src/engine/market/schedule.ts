import type { Timestamp } from '../../core/shared/brand.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { Configuration } from '../../core/config/schema.ts'
import { isSettlementDue } from '../../core/treasury/settle.ts'
import { isLearningDue } from '../../core/brain/learning.ts'
import { isOver, liveIntentsOf } from '../../core/trading/intents.ts'
import { mayRun, type Producer as RegisteredProducer } from '../../core/signals/producers.ts'
import { isAnyOverdue } from '../../core/reputation/settle-calls.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { derivedId } from '../../core/shared/derived-id.ts'
import type { Timer } from '../../ports/timer.ts'
import type { Executor } from '../plan.ts'
import { sha256Hex } from '../sha256.ts'

export interface ScheduleDependencies {
  readonly engine: Executor
  readonly timer: Timer
  readonly configuration: () => Configuration
  /** The venue that reports funding payments itself; undefined without one. */
  readonly fundingReportedBy?: () => string | undefined
  /** Polls a registered producer and records its answer. Never rejects. */
  readonly poll: (producer: RegisteredProducer, signal: AbortSignal) => Promise<void>
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
        await runDueTasks(dependencies, beforeMs, nowMs)
        await runDueCycle(dependencies, beforeMs, nowMs)
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

type DueDependencies = Pick<ScheduleDependencies, 'engine' | 'configuration' | 'fundingReportedBy'>

/** Everything that is due by now except a brain cycle. */
export const runDueTasks = async (
  { engine, configuration, fundingReportedBy }: DueDependencies,
  beforeMs: number,
  nowMs: number,
): Promise<void> => {
  if (isNewMinute(beforeMs, nowMs)) {
    await engine.execute({ kind: 'notice-stale-producers' })
    if (engine.state.trading.book.count > 0) await engine.execute({ kind: 'check-positions' })
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
  trigger: 'schedule' | 'backtest' = 'schedule',
): Promise<void> => {
  const intervalMs = configuration().brain.cycle_interval_seconds * 1000
  const gridMs = Math.floor(nowMs / intervalMs) * intervalMs
  if (gridMs <= beforeMs) return
  const { signals, brain, trading } = engine.state
  if (signals.latest.signals.size === 0 && !brain.staleness.everScored) return
  if (trading.killSwitch.level >= 2) {
    await engine.execute({ kind: 'watch-regime' })
    return
  }
  const cycleId = derivedId('cycle', timestampAt(gridMs), sha256Hex)
  await engine.execute({ kind: 'run-cycle', cycleId, trigger }, { traceId: cycleId })
}

/** Polls under way: one at a time for each producer, and at most POLLS_AT_ONCE in total. */
class Polls {
  readonly #dependencies: ScheduleDependencies
  readonly #signal: AbortSignal
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, RegisteredProducer>()

  constructor(dependencies: ScheduleDependencies, signal: AbortSignal) {
    this.#dependencies = dependencies
    this.#signal = signal
  }

  begin(afterMs: number, upToMs: number): void {
    const { registered, runs } = this.#dependencies.engine.state.signals.producers
    const now = timestampAt(upToMs)
    for (const [name, producer] of registered) {
      if (this.#underWay.has(name) || !mayRun(runs.get(name), now)) continue
      if (firesBetween(producer.schedule, afterMs, upToMs)) this.#waiting.set(name, producer)
    }
    this.#next()
  }

  async settled(): Promise<void> {
    this.#waiting.clear()
    await Promise.all(this.#underWay.values())
  }

  #next(): void {
    for (const [name, producer] of this.#waiting) {
      if (this.#underWay.size >= POLLS_AT_ONCE || this.#signal.aborted) return
      this.#waiting.delete(name)
      const poll = this.#dependencies.poll(producer, this.#signal).finally(() => {
        this.#underWay.delete(name)
        this.#next()
      })
      this.#underWay.set(name, poll)
    }
  }
}
