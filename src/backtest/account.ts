import { asKnown, type KnownEvent, type PayloadOf } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import { type State } from '../core/state.ts'
import { equityOf } from '../core/trading/account.ts'
import { usdNumber } from '../core/shared/money.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { meanOf, type EquityCurve } from './statistics.ts'

/** What happened to the account during a run. */
export interface AccountHistory extends EquityCurve {
  /** In the order in which they ended. */
  readonly trades: readonly ClosedTrade[]
  readonly maxDrawdown: number
  /** Traded volume divided by the mean daily equity. */
  readonly turnover: number
  readonly fees: number
  /** Positive: paid. */
  readonly funding: number
  /** Reasons why something was not traded, with their counts. */
  readonly heldBack: Readonly<Record<string, number>>
  readonly killSwitch: {
    readonly level: number
    /** How often it blocked all entries, and when and why it first did. */
    readonly stops: number
    readonly firstStopAt: string | null
    readonly firstStopReason: string | null
  }
}

/** Follows the account through every event and every close. */
export class AccountTracker {
  readonly #heldBack = new Map<string, number>()
  readonly #days: number[] = []
  readonly #trades = new TradeList()
  #day: number | null = null
  #start = 0
  #equity = 0
  #peak = 0
  #maxDrawdown = 0
  #traded = 0
  #fees = 0
  #funding = 0
  #killSwitch: AccountHistory['killSwitch'] = NEVER_STOPPED

  record(events: readonly Stamped[]): void {
    for (const event of events) this.#recordOne(event)
  }

  /** The state at the beginning. */
  start(state: State): void {
    this.#start = usdNumber(equityOf(state.trading))
    this.#equity = this.#start
    this.#peak = this.#start
  }

  /** After the bars that opened at `openMs` have closed. */
  close(state: State, openMs: number): void {
    const day = Math.floor(openMs / DAY_MS)
    if (this.#day !== null && day > this.#day) this.#days.push(this.#equity)
    this.#day = Math.max(this.#day ?? day, day)
    this.#equity = usdNumber(equityOf(state.trading))
    this.#peak = Math.max(this.#peak, this.#equity)
    if (this.#peak > 0) this.#maxDrawdown = Math.max(this.#maxDrawdown, 1 - this.#equity / this.#peak)
  }

  history(): AccountHistory {
    const days = this.#day === null ? [] : [...this.#days, this.#equity]
    const meanEquity = meanOf(days)
    return {
      start: this.#start,
      days,
      trades: this.#trades.closed,
      maxDrawdown: this.#maxDrawdown,
      turnover: meanEquity > 0 ? this.#traded / meanEquity : 0,
      fees: this.#fees,
      funding: this.#funding,
      heldBack: Object.fromEntries([...this.#heldBack].toSorted(([, one], [, other]) => other - one)),
      killSwitch: this.#killSwitch,
    }
  }

  #recordOne(event: Stamped): void {
    const known = asKnown(event)
    if (known === null) return
    this.#trades.record(known)
    switch (known.type) {
      case 'execution.order_filled.v1':
        this.#traded += known.payload.notional_usd
        this.#fees += known.payload.fee_usd
        return
      case 'execution.funding_applied.v1':
        this.#funding += known.payload.amount_usd
        return
      case 'execution.order_failed.v1':
        this.#countReasons(known.payload.reasons)
        return
      case 'brain.conviction.v1':
        this.#countReasons(known.payload.decision.reasons)
        return
      case 'system.kill_switch.v1':
        this.#killSwitch = afterSwitch(this.#killSwitch, known.payload, event.recordedAt)
        return
      default:
    }
  }

  #countReasons(reasons: readonly string[]): void {
    for (const reason of reasons) this.#heldBack.set(reason, (this.#heldBack.get(reason) ?? 0) + 1)
  }
}

const NEVER_STOPPED: AccountHistory['killSwitch'] = {
  level: 0,
  stops: 0,
  firstStopAt: null,
  firstStopReason: null,
}

const afterSwitch = (
  before: AccountHistory['killSwitch'],
  { level, reason }: PayloadOf<'system.kill_switch.v1'>,
  at: string,
): AccountHistory['killSwitch'] => {
  if (level < ENTRIES_BLOCKED || before.level >= ENTRIES_BLOCKED) return { ...before, level }
  return {
    level,
    stops: before.stops + 1,
    firstStopAt: before.firstStopAt ?? at,
    firstStopReason: before.firstStopReason ?? reason,
  }
}

/** The level from which entries are blocked. */
const ENTRIES_BLOCKED = 2

/** A trade from its first fill to its last. */
export interface ClosedTrade {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly openedAt: string
  readonly closedAt: string
  readonly entryPrice: number
  readonly exitPrice: number
  readonly sizeUsd: number
  /** After fees and funding. */
  readonly netUsd: number
  readonly exitReason: string
}

type Opening = PayloadOf<'execution.position_opened.v1'>

/** Pairs the openings and closings of positions. */
class TradeList {
  readonly #open = new Map<string, { readonly opening: Opening; readonly at: string }>()
  readonly #closed: ClosedTrade[] = []

  get closed(): readonly ClosedTrade[] {
    return this.#closed
  }

  record(event: KnownEvent): void {
    if (event.type === 'execution.position_opened.v1') {
      this.#open.set(event.payload.position_id, { opening: event.payload, at: event.recordedAt })
    } else if (event.type === 'execution.position_closed.v1') this.#close(event.payload, event.recordedAt)
  }

  #close(end: PayloadOf<'execution.position_closed.v1'>, closedAt: string): void {
    const entry = this.#open.get(end.position_id)
    if (entry === undefined) return
    this.#open.delete(end.position_id)
    const { opening, at } = entry
    this.#closed.push({
      symbol: opening.asset,
      direction: opening.direction,
      openedAt: at,
      closedAt,
      entryPrice: opening.entry_price,
      exitPrice: end.exit_price,
      sizeUsd: opening.size_notional,
      netUsd: end.realized_pnl,
      exitReason: end.exit_reason,
    })
  }
}
