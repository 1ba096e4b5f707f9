import { nodeId, type Timestamp } from '../core/shared/brand.ts'
import { usdNumber, type Direction } from '../core/shared/money.ts'
import { equityOf } from '../core/trading/risk/account.ts'
import { timestampAt } from '../core/shared/time.ts'
import { withoutClosed } from '../core/brain/trades.ts'
import type { Command } from '../core/decide.ts'
import { SETTLED_AT_ONCE_MAX } from '../core/reputation/settle-calls.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Stamped } from '../core/log/event.ts'
import type { AccountAtClose } from './account.ts'
import { run } from '../core/run.ts'
import { evolve, INITIAL_STATE, type State } from '../core/state.ts'
import type { ExecuteOptions, Executor } from '../engine/plan.ts'
import type { Outcome } from '../engine/plan.ts'
import { sha256Hex } from '../engine/sha256.ts'
import { DueTimes, isFundingTime } from './due-times.ts'
import type { MarketView } from '../core/market/readings.ts'
import type { Producer } from '../ports/producer.ts'
import type { CycleRequest } from '../core/brain/run-cycle.ts'
import type { ReputationFacts } from '../core/reputation/evolve.ts'
import type { ProducerReport } from '../core/signals/producer-runs.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { quietCycle } from './quiet-cycle.ts'
import { isLaterWindow, NOTHING, QuietRuns, quietView, reportOf } from './quiet-producers.ts'
import { QuietBars, type BarGroup } from './quiet-bars.ts'
import { LateSignals } from './late-signals.ts'
import type { Prices } from './prices.ts'
import { tradedAtOnce, type TradedAtOnce } from './trades-at-once.ts'
import { RecentKeys } from './recent-keys.ts'
import { afterSettling, afterSignals, unfolded, withSignals } from './quiet-signals.ts'

export interface BacktestEngineDependencies {
  readonly configuration: () => Configuration
  readonly version: string
  /** Receives all events of a command, in order. Quiet bars have no events. */
  readonly onEvents: (events: readonly Stamped[]) => void
  /**
   * Receives the reasons why a cycle does not trade a symbol, when the cycle has no events because it changes nothing.
   * Without this option every cycle has its events, and every trade is folded event by event.
   */
  readonly onHeldBack?: ((reasons: readonly string[]) => void) | undefined
}

/**
 * Runs the deciders of the engine at recorded time. Nothing is stored or signed, and only the fold is kept, so the
 * memory of a run does not grow with its events.
 */
export class BacktestEngine implements Executor {
  readonly #dependencies: BacktestEngineDependencies
  readonly #keys = new RecentKeys()
  #state: State = INITIAL_STATE
  #nowMs = 0
  #prices: Prices | null = null
  #ids = 0
  /** The current time as text. Formatted once per time, because a bar needs it several times. */
  #now: Timestamp | null = null
  readonly #quiet: QuietBars
  readonly #runs = new QuietRuns()
  readonly #late = new LateSignals()
  readonly #due: DueTimes

  constructor(dependencies: BacktestEngineDependencies) {
    this.#dependencies = dependencies
    this.#quiet = new QuietBars(dependencies.configuration)
    this.#due = new DueTimes(dependencies.configuration, (name) => this.#runs.lastRunMs(name))
  }

  /** Facts for the deciders. The market is folded only if a decider reads it. */
  readonly #unfolded: ReputationFacts = unfolded(
    () => this.#state,
    () => this.#withBars.market,
  )

  readonly log = {
    findByDedupeKeys: (keys: readonly string[]) =>
      Promise.resolve(
        new Map(keys.filter((key) => this.#keys.has(key)).map((key) => [key, { source: null }])),
      ),
  }

  get state(): State {
    void this.#withBars
    this.#foldSignals()
    return this.#state
  }

  /** State for cycles, which read only the newest signals. The other signals are folded later. */
  get stateOfCycles(): State {
    const { signals } = this.#withBars
    const latest = this.#late.foldLatest(signals.latest)
    if (latest === signals.latest) return this.#state
    const { contributors, producers, trails, traces } = signals
    const newest = { contributors, producers, latest, trails, traces }
    this.#state = withSignals(this.#state, 0, newest, this.#state.reputation)
    return this.#state
  }

  /** State with all bars, but without the signals that are not folded yet. */
  get #withBars(): State {
    // Each event that was skipped would have had an id.
    if (this.#quiet.count > 0) {
      this.#ids += this.#quiet.count
      this.#state = this.#quiet.foldInto(this.#state)
    }
    return this.#state
  }

  #foldSignals(): void {
    const count = this.#runs.count + this.#late.count
    if (count === 0) return
    this.#ids += this.#runs.count + this.#late.attributions
    const { signals, reputation } = this.#late.foldInto(this.#state)
    const { contributors, latest, trails, traces } = signals
    const producers = this.#runs.foldInto(signals.producers)
    const all = { contributors, producers, latest, trails, traces }
    this.#state = withSignals(this.#state, count, all, reputation)
  }

  /** The account after the last bars. */
  get account(): AccountAtClose {
    if (this.#quiet.count > 0) return this.#quiet
    const { trading } = this.#state
    return {
      equityUsd: usdNumber(equityOf(trading)),
      exposureUsd: usdNumber(trading.book.exposure),
      isHolding: trading.book.count > 0,
    }
  }

  /**
   * True if neither the clock up to now nor these bars can cause an event, as far as that is known without folding
   * them.
   */
  isIdle(beforeMs: number, nowMs: number, group: BarGroup): boolean {
    if (this.#quiet.isOfNextDay(group)) void this.#withBars
    return (
      this.#quiet.prepare(this.#state, group) &&
      this.#quiet.areMarksFresh(nowMs) &&
      this.#due.isNoCallDue(this.#state, nowMs) &&
      this.#due.isNothingDue(this.#state, nowMs) &&
      !(isFundingTime(beforeMs, nowMs) && this.#quiet.paysFunding)
    )
  }

  /** True if a proposal would change nothing now. Call it after `isIdle`. */
  ignores(symbol: string, direction: Direction | 'flat'): boolean {
    return this.#quiet.ignores(symbol, direction)
  }

  /** Runs producers on the bars of this time without events. Returns the producers that cannot be run this way. */
  runQuietly(due: readonly Producer[]): readonly Producer[] {
    if (due.length === 0 || !this.#isUpToDate()) return due
    const view = this.#view()
    if (view.asOfMs !== this.#nowMs) return due
    const failed = due.findIndex((producer) => !this.#runsQuietly(producer, view))
    return failed === -1 ? [] : due.slice(failed)
  }

  /** True if the newest event, recorded or skipped, has the current time. */
  #isUpToDate(): boolean {
    if (this.#quiet.count > 0) return this.#quiet.lastCloseMs === this.#nowMs
    return this.#state.recordedAt === this.#timestamp && this.#state.decidedAt === this.#timestamp
  }

  #runsQuietly(producer: Producer, view: MarketView): boolean {
    const report = reportOf(producer, this.#state.signals.producers, view)
    if (report === null) return false
    if (report === NOTHING) {
      this.#runs.add(producer.name, this.#nowMs, 0)
      return true
    }
    const { name, rows } = report
    const isLater = isLaterWindow(producer, this.#lastRunMs(name), this.#nowMs)
    if (!isLater && rows.some(({ dedupeKey }) => this.#keys.has(dedupeKey))) return false
    if (!this.#takesLate(report) && !this.#takesSignals(report)) return false
    this.#keys.addOfWindow(
      name,
      rows.map(({ dedupeKey }) => dedupeKey),
      isLater,
    )
    return true
  }

  #lastRunMs(name: string): number {
    const { runs } = this.#state.signals.producers
    return this.#runs.lastRunMs(name) ?? Date.parse(runs.get(name)?.lastRunAt ?? '')
  }

  /** Accepts signals that have no immediate consequence. */
  #takesLate({ name, rows, end }: ProducerReport): boolean {
    const after = end === 'usable' ? this.#late.take(name, rows, this.#unfolded, this.#context()) : null
    if (after === null) return false
    const { signals, reputation } = this.#state
    if (after !== reputation) this.#state = withSignals(this.#state, 0, signals, after)
    this.#runs.add(name, this.#nowMs, rows.length)
    if (this.#late.count > LATE_MAX) this.#foldSignals()
    return true
  }

  #takesSignals(report: ProducerReport): boolean {
    this.#foldSignals()
    const ids = this.#idsTaken
    const after = afterSignals(this.#unfolded, report, this.#context())
    if (after === null) {
      this.#ids -= this.#idsTaken - ids
      return false
    }
    const { signals, reputation, count } = after
    this.#state = withSignals(this.#state, count, signals, reputation)
    return true
  }

  /** Market view for producers. Nothing is folded if the newest prices are known without it. */
  #view(): MarketView {
    const { symbols } = this.#dependencies.configuration().universe
    const barSeconds = this.#state.market.rules.barSeconds
    const pricesOf = (symbol: string) => this.#quiet.pricesOf(symbol, barSeconds * 1000, this.#nowMs)
    return quietView(
      { symbols, asOfMs: this.#nowMs, analysisBarSeconds: barSeconds },
      (symbol) => {
        const prices = pricesOf(symbol)
        if (prices !== null || this.#quiet.count === 0) return prices
        void this.#withBars.market.symbols
        return pricesOf(symbol)
      },
      () => this.#withBars.market,
    )
  }

  /** Processes bars without events if they cause none. False if the bars have to be observed. */
  takeQuietly(group: BarGroup): boolean {
    if (group.closeMs < this.#nowMs || !this.#quiet.prepare(this.#state, group)) return false
    const settles = !group.backfill && !this.#due.isNoCallDue(this.#state, group.closeMs)
    if (settles && this.#state.reputation.calls.open.size > SETTLED_AT_ONCE_MAX) return false
    if (!this.#quiet.take(group)) return false
    this.moveTo(group.closeMs)
    // The fold of a settled call never reads the signals that are not folded yet.
    if (settles) this.#state = afterSettling(this.#withBars, group.bars, this.#context())
    return true
  }

  now(): number {
    return this.#nowMs
  }

  /** Returns the same ids in the same order in each run. */
  readonly newId = (): string => {
    this.#ids += 1
    return `00000000-0000-7000-8000-${this.#idsTaken.toString(16).padStart(12, '0')}`
  }

  /** Number of ids used, including those of skipped events. */
  get #idsTaken(): number {
    return this.#ids + this.#quiet.count + this.#runs.count + this.#late.attributions
  }

  /** Moves the time forward, never back. Without prices, those of the last bars apply. */
  moveTo(ms: number, prices: Prices | null = null): void {
    if (ms > this.#nowMs) {
      this.#nowMs = ms
      this.#now = null
    }
    this.#prices = prices
  }

  execute(command: Command, { traceId = null }: ExecuteOptions = {}): Promise<Outcome> {
    const context = this.#context(traceId)
    if (command.kind === 'run-cycle' && this.#isQuietCycle(command, context)) return NO_EVENTS
    const result = this.#tradedAtOnce(command, context) ?? run(this.state, command, context)
    if (result.status === 'refused') return Promise.resolve(result)
    this.#state = this.#withoutClosed(result.state)
    for (const { dedupeKey, type } of result.events) {
      // Keys of bars are never looked up.
      if (dedupeKey !== null && type !== 'market.bar.v1') this.#keys.add(dedupeKey)
    }
    this.#dependencies.onEvents(result.events)
    return Promise.resolve({ status: 'done', events: result.events, replayed: false })
  }

  get #timestamp(): Timestamp {
    this.#now ??= timestampAt(this.#nowMs)
    return this.#now
  }

  #context(traceId: string | null = null): DecisionContext {
    return {
      now: this.#timestamp,
      newId: this.newId,
      traceId,
      configuration: this.#dependencies.configuration(),
      version: this.#dependencies.version,
      sha256Hex,
      nodeId: BACKTEST_NODE,
      sign: NO_SIGNATURE,
      isSigned: NEVER_SIGNED,
      elapsedMs: NO_TIME,
      prices: this.#prices ?? undefined,
    }
  }

  #tradedAtOnce(command: Command, context: DecisionContext): TradedAtOnce | null {
    if (command.kind !== 'propose-trade' || this.#dependencies.onHeldBack === undefined) return null
    const { state } = this
    const ids = this.#ids
    const traded = tradedAtOnce(state, command.proposal, context)
    if (traded === null) this.#ids = ids
    return traded
  }

  #isQuietCycle(request: CycleRequest, context: DecisionContext): boolean {
    const { onHeldBack } = this.#dependencies
    if (onHeldBack === undefined) return false
    const cycle = quietCycle(this.stateOfCycles, request, context)
    if (cycle === null) return false
    this.#ids += cycle.count
    this.#state = this.#withoutClosed(cycle.state)
    cycle.reasons.forEach(onHeldBack)
    return true
  }

  /** Folds an event of the log at the current time. No decision follows from it at once. */
  replay(event: Stamped): void {
    const { state } = this
    const replayed = { ...event, seq: state.seq + 1, recordedAt: timestampAt(this.#nowMs) }
    this.#state = evolve(state, replayed)
    this.#dependencies.onEvents([replayed])
  }

  /** Removes what has ended. A cycle of the brain would do it, but rules have no cycles, so it would pile up. */
  #withoutClosed(state: State): State {
    const { learning } = state.brain
    if (learning.trades.closed.length < CLOSED_MAX) return state
    const trades = withoutClosed(learning.trades)
    return { ...state, brain: { ...state.brain, learning: { ...learning, trades } } }
  }
}

export const BACKTEST_NODE = nodeId('backtest')

const NO_SIGNATURE = (): string => ''
const NEVER_SIGNED = (): boolean => false
const NO_TIME = (): number => 0

const NO_EVENTS: Promise<Outcome> = Promise.resolve({ status: 'done', events: [], replayed: false })

const CLOSED_MAX = 100

/** Bound that keeps memory small. */
const LATE_MAX = 1000
