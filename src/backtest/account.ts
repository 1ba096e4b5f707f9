import { asKnown, type PayloadOf } from '../core/events/catalogue.ts'
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
  readonly killSwitch: KillSwitchHistory
}

/** With the names of the report: how often the kill switch blocked all entries, and when and why it first did. */
export interface KillSwitchHistory {
  readonly level: number
  readonly stops: number
  readonly first_stop_at: string | null
  readonly first_stop_reason: string | null
}

/** A trade from its first fill to its last, with the names of the report. */
export interface ClosedTrade {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly opened_at: string
  readonly closed_at: string
  readonly entry_price: number
  readonly exit_price: number
  readonly size_usd: number
  /** After fees and funding. */
  readonly net_usd: number
  readonly exit_reason: string
}

type Opening = Pick<ClosedTrade, 'symbol' | 'direction' | 'opened_at' | 'entry_price' | 'size_usd'>

/** Follows the account through every event and every close. */
export class AccountTracker {
  readonly #heldBack = new Map<string, number>()
  readonly #days: number[] = []
  readonly #open = new Map<string, Opening>()
  readonly #trades: ClosedTrade[] = []
  #day: number | null = null
  #start = 0
  #equity = 0
  #peak = 0
  #maxDrawdown = 0
  #traded = 0
  #fees = 0
  #funding = 0
  #killSwitch: KillSwitchHistory = { level: 0, stops: 0, first_stop_at: null, first_stop_reason: null }

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
  close(equity: number, openMs: number): void {
    const day = Math.floor(openMs / DAY_MS)
    if (this.#day !== null && day > this.#day) this.#days.push(this.#equity)
    this.#day = Math.max(this.#day ?? day, day)
    this.#equity = equity
    this.#peak = Math.max(this.#peak, this.#equity)
    if (this.#peak > 0) this.#maxDrawdown = Math.max(this.#maxDrawdown, 1 - this.#equity / this.#peak)
  }

  history(): AccountHistory {
    const days = this.#day === null ? [] : [...this.#days, this.#equity]
    const meanEquity = meanOf(days)
    return {
      start: this.#start,
      days,
      trades: this.#trades,
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
    switch (known?.type) {
      case 'execution.position_opened.v1': {
        const { position_id, asset: symbol, direction, entry_price, size_notional: size_usd } = known.payload
        this.#open.set(position_id, { symbol, direction, opened_at: event.recordedAt, entry_price, size_usd })
        return
      }
      case 'execution.position_closed.v1': {
        const { position_id, exit_price, realized_pnl: net_usd, exit_reason } = known.payload
        const opening = this.#open.get(position_id)
        if (opening === undefined) return
        this.#open.delete(position_id)
        this.#trades.push({ ...opening, closed_at: event.recordedAt, exit_price, net_usd, exit_reason })
        return
      }
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

const afterSwitch = (
  before: KillSwitchHistory,
  { level, reason }: PayloadOf<'system.kill_switch.v1'>,
  at: string,
): KillSwitchHistory => {
  if (level < ENTRIES_BLOCKED || before.level >= ENTRIES_BLOCKED) return { ...before, level }
  return {
    level,
    stops: before.stops + 1,
    first_stop_at: before.first_stop_at ?? at,
    first_stop_reason: before.first_stop_reason ?? reason,
  }
}

/** The level from which entries are blocked. */
const ENTRIES_BLOCKED = 2
