import type { Configuration } from '../core/config/schema.ts'
import { symbolQueue, horizonQueue } from '../core/reputation/calls.ts'
import { waitingIn, type DueQueues } from '../core/reputation/due-queues.ts'
import { intervalMsOf } from '../core/shared/cron.ts'
import { HORIZONS, msOf } from '../core/shared/time.ts'
import { builtinOf, type Producers } from '../core/signals/producers.ts'
import type { State } from '../core/state.ts'

/** 00:00, 08:00 and 16:00 UTC. */
const FUNDING_PERIOD_MS = 28_800_000

/** When time alone makes something happen, from the state as it is. */
export class DueTimes {
  readonly #configuration: () => Configuration
  readonly #lastRunMs: LastRunMs
  #queues: DueQueues | null = null
  #firstDueMs = 0
  #learning: State['brain']['learning'] | null = null
  #learnedMs = 0
  #runs = 0
  #registered: Producers['registered'] | null = null
  #staleMs = 0
  readonly #intervals = new Map<string, number | null>()

  constructor(configuration: () => Configuration, lastRunMs: LastRunMs) {
    this.#configuration = configuration
    this.#lastRunMs = lastRunMs
  }

  /** Whether no call is due by then. */
  isNoCallDue(state: State, byMs: number): boolean {
    // A signal that joins a call changes no queue.
    const { due } = state.reputation.calls
    if (due !== this.#queues) {
      this.#queues = due
      this.#firstDueMs = firstDueMs(state)
    }
    return byMs < this.#firstDueMs
  }

  /** Whether the clock asks for nothing by now, except for funding. */
  isNothingDue(state: State, nowMs: number): boolean {
    return !this.#isLearningDue(state, nowMs) && !this.#isAnyStale(state, nowMs)
  }

  #isLearningDue({ brain: { learning } }: State, nowMs: number): boolean {
    const rules = this.#configuration().learning
    if (!rules.enabled) return false
    if (learning !== this.#learning) {
      this.#learning = learning
      const after = learning.lastRun?.at ?? learning.beganAt
      this.#learnedMs = after === null ? Infinity : Date.parse(after)
    }
    const intervalMs = rules.interval_seconds * 1000
    const dueMs = Math.floor(nowMs / intervalMs) * intervalMs
    return dueMs > this.#learnedMs || (learning.lastRun !== null && this.#learnedMs > dueMs + intervalMs)
  }

  /** Every run of a producer makes it stale later, so an earlier answer holds for a while. */
  #isAnyStale({ signals: { producers } }: State, nowMs: number): boolean {
    const { runs, registered } = producers
    const isSame = runs.size === this.#runs && registered === this.#registered
    if (runs.size === 0 || (isSame && nowMs < this.#staleMs)) return false
    if (registered !== this.#registered) this.#intervals.clear()
    this.#runs = runs.size
    this.#registered = registered
    const staleMs = this.#firstStaleMs(producers, nowMs)
    this.#staleMs = staleMs
    return nowMs >= staleMs
  }

  /** Also a producer that runs again from now on is not stale before that. */
  #firstStaleMs({ registered, runs }: Producers, nowMs: number): number {
    const intervals = this.#configuration().producers.stale_intervals
    let first = Infinity
    runs.forEach(({ health, lastRunAt }, name) => {
      let intervalMs = this.#intervals.get(name)
      if (intervalMs === undefined) {
        const schedule = registered.get(name)?.schedule ?? builtinOf(name)?.schedule ?? null
        intervalMs = schedule === null ? null : intervalMsOf(schedule)
        this.#intervals.set(name, intervalMs)
      }
      if (intervalMs === null) return
      const isCounted = health === 'ok' || health === 'degraded'
      const ranMs = isCounted ? (this.#lastRunMs(name) ?? msOf(lastRunAt)) : nowMs
      first = Math.min(first, ranMs + intervals * intervalMs)
    })
    return first
  }
}

/** Of runs that are not folded yet. */
type LastRunMs = (name: string) => number | undefined

/** Whether funding is charged behind the first time and up to the second. */
export const isFundingTime = (afterMs: number, upToMs: number): boolean =>
  isStepBetween(FUNDING_PERIOD_MS, afterMs, upToMs)

/** Whether a step of this length ends behind the first time and up to the second. */
export const isStepBetween = (stepMs: number, afterMs: number, upToMs: number): boolean =>
  Math.floor(upToMs / stepMs) * stepMs > afterMs

/** Of the calls at the front of their queues: those behind them are due later. */
const firstDueMs = ({ reputation: { calls }, market }: State): number => {
  if (calls.open.size === 0) return Infinity
  let first = Infinity
  const look = (queue: string): void => {
    const front = waitingIn(calls.due, queue).next()
    const call = front.done === true ? undefined : calls.open.get(front.value)
    if (call !== undefined) first = Math.min(first, msOf(call.dueAt))
  }
  for (const horizon of HORIZONS) {
    look(horizonQueue(horizon))
    for (const symbol of market.symbols.keys()) look(symbolQueue(horizon, symbol))
  }
  return first
}
