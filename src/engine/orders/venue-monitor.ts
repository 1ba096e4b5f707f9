import type { CanonicalSymbol } from '../../core/shared/brand.ts'
import type { Usd } from '../../core/shared/money.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import {
  differingSymbols,
  holdsLess,
  type AccountSweep,
} from '../../core/trading/venue/account-differences.ts'
import {
  findingOf,
  isSameDifference,
  unexplainedBalance,
  type BalanceFinding,
} from '../../core/trading/venue/capital.ts'
import { openPositionsOf } from '../../core/trading/positions/book.ts'
import type { VenueCheck } from '../../core/trading/venue/venue.ts'
import { isAtRest, PAPER } from '../../core/trading/orders/orders.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { AccountHistory, Broker } from '../../ports/broker.ts'
import type { Timer } from '../../ports/timer.ts'
import type { LeadingEngine } from '../leading-engine.ts'

export interface VenueMonitorDependencies {
  readonly engine: LeadingEngine
  readonly broker: Broker
  readonly venue: string
  readonly timer: Timer
  readonly symbols: () => readonly string[]
  /** Counter that increases with every step in a symbol. */
  readonly activityIn: (symbol: string) => number
  /** Whether a step is running in the symbol. */
  readonly isBusy: (symbol: string) => boolean
  /** Called with the symbols in which the quantity at the venue differs. */
  readonly onDiffering: (symbols: readonly CanonicalSymbol[]) => void
  readonly signal: AbortSignal
  readonly onError: (what: string, error?: unknown) => void
}

const ACCOUNT_SWEEP_MS = 30_000
/** Delay after which a difference is checked again. */
const CONFIRM_MS = 3000
/** Time for which a difference of the balance must last before it is recorded. */
const LASTING_MS: Readonly<Record<Exclude<BalanceFinding, 'agrees'>, number>> = {
  // Funding leaves the balance before the venue lists it, and the list is read every few minutes.
  capital: 900_000,
  // Funding was read together with the liquidations. The venue may list a liquidation slightly later than the position
  // ends.
  loss: 60_000,
  unexplained: 60_000,
}
/** Time for which a venue may fail to list liquidations before a missing position is reported without them. */
const HISTORY_MS = 60_000
/** Interval of checks. Symbols and step sizes of a venue rarely change. */
const CHECK_MS = 3_600_000
const CHECK_AGAIN_MS = 30_000

const NO_ACCOUNT = { name: 'account', ok: false, detail: 'the venue does not report its positions' } as const

const NO_HISTORY: AccountHistory = { liquidations: [], fundings: [] }

/** `differing`: a new difference, which counts only if the next sweep finds it again. */
type SweepResult = 'agreed' | 'differing' | 'no-answer'

/**
 * Compares account and prices at the venue with the log, and records whether orders may be sent. No order is sent
 * before the first comparison.
 */
export class VenueMonitor {
  readonly #dependencies: VenueMonitorDependencies
  #checkMs = 0
  #differing: ReadonlySet<string> = new Set()
  #unexplained: { readonly amount: Usd; readonly finding: BalanceFinding; readonly sinceMs: number } | null =
    null
  /** Time since which the venue has not listed liquidations while a position is missing. */
  #withoutHistoryMs: number | null = null

  constructor(dependencies: VenueMonitorDependencies) {
    this.#dependencies = dependencies
  }

  /** Invalidates the check results of an earlier process. */
  begin(): Promise<void> {
    return this.#record([{ name: 'reachable', ok: false, detail: 'not checked yet' }])
  }

  async end(): Promise<void> {
    try {
      await this.#record([{ name: 'reachable', ok: false, detail: 'the service stopped' }])
    } catch (error) {
      this.#dependencies.onError('could not record that no more orders are sent', error)
    }
  }

  /** Ends as soon as the signal aborts, without waiting for a venue that does not answer. */
  async run(): Promise<void> {
    const { signal } = this.#dependencies
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    while (!signal.aborted) await Promise.race([this.#checkAndWait(), ended])
  }

  async #checkAndWait(): Promise<void> {
    const { timer, signal, onError } = this.#dependencies
    let pauseMs = ACCOUNT_SWEEP_MS
    try {
      if ((await this.#check()) === 'differing') pauseMs = CONFIRM_MS
    } catch (error) {
      onError('could not check the venue', error)
    }
    await timer.wait(pauseMs, signal)
  }

  async #check(): Promise<SweepResult> {
    const { engine, broker, symbols, timer, signal } = this.#dependencies
    // An earlier leader may have recorded its last check after the first one of this process.
    const isDue = timer.now() >= this.#checkMs || engine.state.trading.venue.checked?.ok !== true
    const checks = isDue ? await broker.preflight(symbols()) : []
    if (!signal.aborted) await this.#recordQuotes()
    const swept = signal.aborted ? 'no-answer' : await this.#compareAccount()
    // Orders are no longer sent, so the result has no effect.
    if (signal.aborted) return swept
    // Orders may be sent only after the positions were compared.
    if (!isDue || swept === 'differing') return swept
    const all = swept === 'agreed' ? checks : [...checks, NO_ACCOUNT]
    await this.#record(all)
    this.#checkMs = timer.now() + (all.every(({ ok }) => ok) ? CHECK_MS : CHECK_AGAIN_MS)
    return swept
  }

  async #record(checks: VenueCheck['checks']): Promise<void> {
    const { engine, broker, venue, symbols } = this.#dependencies
    const check = {
      venue,
      checks,
      restingStops: broker.stops !== null,
      symbols: symbols().map((symbol) => ({ symbol, steps: broker.stepsOf(symbol) })),
    }
    await engine.execute({ kind: 'record-venue-check', check })
  }

  async #recordQuotes(): Promise<void> {
    const { engine, broker, venue, symbols } = this.#dependencies
    const quotes = await broker.quotes(symbols())
    if (quotes.length > 0) await engine.execute({ kind: 'record-venue-quotes', quotes: { venue, quotes } })
  }

  async #compareAccount(): Promise<SweepResult> {
    const { engine, broker, venue, activityIn, isBusy, onDiffering } = this.#dependencies
    const before = new Map(this.#knownSymbols().map((symbol) => [symbol, activityIn(symbol)]))
    const busy = this.#busySymbols()
    const account = await broker.account()
    if (account === null) return 'no-answer'
    const reported = account.positions.map(({ symbol }) => canonicalSymbol(symbol))
    const all = [...new Set([...before.keys(), ...reported])]
    const quiet = (): readonly CanonicalSymbol[] =>
      all.filter(
        (symbol) => !busy.has(symbol) && !isBusy(symbol) && (before.get(symbol) ?? 0) === activityIn(symbol),
      )
    const { balance, positions } = account
    const asReported = { venue, balance, positions, liquidations: [], quietSymbols: quiet() }
    const history = await this.#historyFor(asReported)
    if (history === null) return 'differing'
    for (const payment of [...(account.fundings ?? []), ...history.fundings]) {
      await engine.execute({ kind: 'record-funding', venue, payment })
    }
    const quietSymbols = quiet()
    const sweep: AccountSweep = { ...asReported, liquidations: history.liquidations, quietSymbols }
    const keys = differingSymbols(engine.state, sweep)
    const repeated = keys.filter((key) => this.#differing.has(key))
    const confirmed = quietSymbols.filter((symbol) => repeated.some((key) => key.startsWith(`${symbol}|`)))
    this.#differing = new Set(keys)
    onDiffering(quietSymbols.filter((symbol) => keys.some((key) => key.startsWith(`${symbol}|`))))
    if (confirmed.length > 0) {
      await engine.execute({ kind: 'compare-account', sweep: { ...sweep, quietSymbols: confirmed } })
    }
    if (quietSymbols.length === all.length) await this.#compareBalance(sweep)
    return confirmed.length < keys.length ? 'differing' : 'agreed'
  }

  /**
   * Liquidations and funding, read if a position or money is missing at the venue. Null while the venue does not list
   * them.
   */
  async #historyFor(sweep: AccountSweep): Promise<AccountHistory | null> {
    const { engine, broker, timer } = this.#dependencies
    const amount = unexplainedBalance(engine.state, sweep) ?? 0n
    const isLoss = amount < 0n && this.#findingOf(sweep, amount as Usd) !== 'agrees'
    if (!isLoss && !holdsLess(engine.state, sweep)) {
      this.#withoutHistoryMs = null
      return NO_HISTORY
    }
    const history = await broker.history()
    if (history !== null) {
      this.#withoutHistoryMs = null
      return history
    }
    this.#withoutHistoryMs ??= timer.now()
    return timer.now() - this.#withoutHistoryMs < HISTORY_MS ? null : NO_HISTORY
  }

  /** Records a difference of the balance once it has lasted long enough. */
  async #compareBalance(sweep: AccountSweep): Promise<void> {
    const { engine, timer } = this.#dependencies
    const amount = unexplainedBalance(engine.state, sweep)
    if (amount === null) return
    const finding = this.#findingOf(sweep, amount)
    if (finding === 'agrees') {
      this.#unexplained = null
      return
    }
    const known = this.#unexplained
    const isSame = known?.finding === finding && isSameDifference(engine.state, amount, known.amount)
    if (!isSame) this.#unexplained = { amount, finding, sinceMs: timer.now() }
    else if (timer.now() - known.sinceMs >= LASTING_MS[finding]) {
      await engine.execute({ kind: 'record-capital', sweep })
      this.#unexplained = null
    }
  }

  #findingOf(sweep: AccountSweep, amount: Usd): BalanceFinding {
    const { engine, timer } = this.#dependencies
    return findingOf(engine.state, sweep, amount, { now: timestampAt(timer.now()) })
  }

  #knownSymbols(): readonly CanonicalSymbol[] {
    const { engine, symbols } = this.#dependencies
    const held = openPositionsOf(engine.state.trading).map(({ terms }) => terms.asset)
    return [...new Set([...symbols().map(canonicalSymbol), ...held])]
  }

  #busySymbols(): ReadonlySet<CanonicalSymbol> {
    const { open } = this.#dependencies.engine.state.trading.orders
    return new Set(
      [...open.values()]
        .filter((order) => order.venue !== PAPER && !isAtRest(order))
        .map(({ symbol }) => canonicalSymbol(symbol)),
    )
  }
}
