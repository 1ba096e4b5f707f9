import type { Configuration } from '../../core/config/schema.ts'
import { isSettlementDue } from '../../core/treasury/settle.ts'
import { isLearningDue } from '../../core/brain/learning.ts'
import { isLive } from '../../core/trading/intents.ts'
import { mayRun, type Producer as RegisteredProducer } from '../../core/signals/producers.ts'
import { isAnyOverdue } from '../../core/reputation/settle-calls.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { derivedId } from '../../core/shared/derived-id.ts'
import type { Timer } from '../../ports/timer.ts'
import type { Executor } from '../executor.ts'
import { sha256Hex } from '../sha256.ts'

export interface ScheduleDependencies {
  readonly engine: Executor
  readonly timer: Timer
  readonly configuration: () => Configuration
  /** The venue that says itself what holding a position costs there; undefined where nobody does. */
  readonly fundingToldBy?: () => string | undefined
  /** Asks a registered producer, and records what it said. Never rejects. */
  readonly poll: (producer: RegisteredProducer, signal: AbortSignal) => Promise<void>
  readonly onError: (what: string, error: unknown) => void
}

export interface Schedule {
  /** Waits for what is under way. */
  close(): Promise<void>
}

const STEP_MS = 1000
const POLLS_AT_ONCE = 8
/** 00:00, 08:00 and 16:00 UTC. */
const FUNDING_PERIOD_MS = 28_800_000

/** Everything that happens by the clock: cycles on their grid, polls on their cron, and what runs out of time. */
export const startSchedule = (parts: ScheduleDependencies): Schedule => {
  const closing = new AbortController()
  const { timer, onError } = parts
  const polls = new Polls(parts, closing.signal)
  const loop = async (): Promise<void> => {
    let beforeMs = timer.now()
    while (!closing.signal.aborted) {
      await timer.wait(STEP_MS - (timer.now() % STEP_MS), closing.signal)
      const nowMs = timer.now()
      // A clock that was set back: what is between has happened already.
      if (closing.signal.aborted || nowMs <= beforeMs) continue
      try {
        if (isNewMinute(beforeMs, nowMs)) polls.begin(beforeMs, nowMs)
        await doDue(parts, beforeMs, nowMs)
        await runDueCycle(parts, beforeMs, nowMs)
      } catch (error) {
        onError('something that was due could not be done', error)
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

type DueDependencies = Pick<ScheduleDependencies, 'engine' | 'configuration' | 'fundingToldBy'>

/** What ran out of time, what holding costs and what is to be learned: all that is due by now but a cycle. */
export const doDue = async (parts: DueDependencies, beforeMs: number, nowMs: number): Promise<void> => {
  const { engine, configuration, fundingToldBy } = parts
  if (isNewMinute(beforeMs, nowMs)) {
    await engine.execute({ kind: 'notice-stale-producers' })
    if (engine.state.trading.book.count > 0) await engine.execute({ kind: 'check-positions' })
    // In batches: many may have waited for a price that never came.
    while (
      isAnyOverdue(engine.state.reputation.calls, new Date(nowMs).toISOString(), configuration().settlement)
    ) {
      const outcome = await engine.execute({ kind: 'settle-overdue' })
      if (outcome.status === 'refused' || outcome.events.length === 0) break
    }
    if (isSettlementDue(engine.state.treasury, configuration(), new Date(nowMs).toISOString())) {
      await engine.execute({ kind: 'settle-due-shares' })
    }
  }
  const fundingMs = Math.floor(nowMs / FUNDING_PERIOD_MS) * FUNDING_PERIOD_MS
  if (fundingMs > beforeMs && engine.state.trading.book.count > 0) {
    const at = new Date(fundingMs).toISOString()
    await engine.execute({ kind: 'apply-funding', at, reportedBy: fundingToldBy?.() })
  }
  await learnIfDue(engine, configuration(), nowMs)
  if (hasOverdueIntent(engine, nowMs)) await engine.execute({ kind: 'expire-intents' })
}

const isNewMinute = (beforeMs: number, nowMs: number): boolean =>
  Math.floor(nowMs / 60_000) > Math.floor(beforeMs / 60_000)

/** On its grid; a moment that nobody was there for is made up for once. */
const learnIfDue = async (engine: Executor, { learning }: Configuration, nowMs: number): Promise<void> => {
  const intervalMs = learning.interval_seconds * 1000
  const dueMs = Math.floor(nowMs / intervalMs) * intervalMs
  if (!learning.enabled || !isLearningDue(engine.state.brain.learning, dueMs)) return
  const cause = { trigger: 'schedule', due: new Date(dueMs).toISOString() } as const
  await engine.execute({ kind: 'run-learning', cause })
}

const hasOverdueIntent = (engine: Executor, nowMs: number): boolean =>
  [...engine.state.trading.intents.values()].some(
    ({ status, intent }) => isLive(status) && Date.parse(intent.valid_until) < nowMs,
  )

/** Missed ones are not made up. As long as nobody has ever said anything there is nothing to think about. */
export const runDueCycle = async (
  { engine, configuration }: Pick<ScheduleDependencies, 'engine' | 'configuration'>,
  beforeMs: number,
  nowMs: number,
  trigger: 'schedule' | 'backtest' = 'schedule',
): Promise<void> => {
  const intervalMs = configuration().brain.cycle_interval_seconds * 1000
  const gridMs = Math.floor(nowMs / intervalMs) * intervalMs
  if (gridMs <= beforeMs) return
  const {
    signals: { latest: board },
    brain: mind,
    trading: { killSwitch },
  } = engine.state
  if (board.signals.size === 0 && !mind.staleness.everScored) return
  if (killSwitch.level >= 2) {
    await engine.execute({ kind: 'watch-regime' })
    return
  }
  const cycleId = derivedId('cycle', new Date(gridMs).toISOString(), sha256Hex)
  await engine.execute({ kind: 'run-cycle', cycleId, trigger }, { traceId: cycleId })
}

/** Polls under way. One producer is never asked twice at once, and only so many at all. */
class Polls {
  readonly #parts: ScheduleDependencies
  readonly #signal: AbortSignal
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #waiting = new Map<string, RegisteredProducer>()

  constructor(parts: ScheduleDependencies, signal: AbortSignal) {
    this.#parts = parts
    this.#signal = signal
  }

  begin(afterMs: number, upToMs: number): void {
    const { registered, runs } = this.#parts.engine.state.signals.producers
    const now = new Date(upToMs).toISOString()
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
      const poll = this.#parts.poll(producer, this.#signal).finally(() => {
        this.#underWay.delete(name)
        this.#next()
      })
      this.#underWay.set(name, poll)
    }
  }
}
