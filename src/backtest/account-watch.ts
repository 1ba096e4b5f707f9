import { asKnown, type PayloadOf } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import type { State } from '../core/state.ts'
import { equityOf } from '../core/trading/evolve.ts'
import { usdNumber } from '../core/shared/money.ts'
import { DAY_MS } from '../core/shared/time.ts'
import { meanOf, type EquityCourse } from './figures.ts'
import { TradeList, type ClosedTrade } from './trade-list.ts'

/** What happened to the account. */
export interface AccountCourse extends EquityCourse {
  /** In the order in which they ended. */
  readonly trades: readonly ClosedTrade[]
  readonly maxDrawdown: number
  /** What was bought and sold, in mean daily equities. */
  readonly turnover: number
  readonly fees: number
  /** Positive: paid. */
  readonly funding: number
  /** Why something was not traded, and how often. */
  readonly heldBack: Readonly<Record<string, number>>
  readonly killSwitch: {
    readonly level: number
    /** How often it ended all entries, and when and why it first did. */
    readonly stops: number
    readonly firstStopAt: string | null
    readonly firstStopReason: string | null
  }
}

/** Looks at every event and at every close. */
export class AccountWatch {
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
  #killSwitch: AccountCourse['killSwitch'] = NEVER_STOPPED

  see(events: readonly Stamped[]): void {
    for (const event of events) this.#seeOne(event)
  }

  /** With what the account begins. */
  begin(state: State): void {
    this.#start = usdNumber(equityOf(state.trading))
    this.#equity = this.#start
    this.#peak = this.#start
  }

  /** Bars that began then have closed. */
  close(state: State, openMs: number): void {
    const day = Math.floor(openMs / DAY_MS)
    if (this.#day !== null && day > this.#day) this.#days.push(this.#equity)
    this.#day = Math.max(this.#day ?? day, day)
    this.#equity = usdNumber(equityOf(state.trading))
    this.#peak = Math.max(this.#peak, this.#equity)
    if (this.#peak > 0) this.#maxDrawdown = Math.max(this.#maxDrawdown, 1 - this.#equity / this.#peak)
  }

  course(): AccountCourse {
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

  #seeOne(event: Stamped): void {
    const known = asKnown(event)
    if (known === null) return
    this.#trades.see(known)
    switch (known.type) {
      case 'execution.order_filled.v1':
        this.#traded += known.payload.notional_usd
        this.#fees += known.payload.fee_usd
        return
      case 'execution.funding_applied.v1':
        this.#funding += known.payload.amount_usd
        return
      case 'execution.order_failed.v1':
        this.#hold(known.payload.reasons)
        return
      case 'brain.conviction.v1':
        this.#hold(known.payload.decision.reasons)
        return
      case 'system.kill_switch.v1':
        this.#killSwitch = switched(this.#killSwitch, known.payload, event.recordedAt)
        return
      default:
    }
  }

  #hold(reasons: readonly string[]): void {
    for (const reason of reasons) this.#heldBack.set(reason, (this.#heldBack.get(reason) ?? 0) + 1)
  }
}

const NEVER_STOPPED: AccountCourse['killSwitch'] = {
  level: 0,
  stops: 0,
  firstStopAt: null,
  firstStopReason: null,
}

const switched = (
  before: AccountCourse['killSwitch'],
  { level, reason }: PayloadOf<'system.kill_switch.v1'>,
  at: string,
): AccountCourse['killSwitch'] => {
  if (level < ENTRIES_END || before.level >= ENTRIES_END) return { ...before, level }
  return {
    level,
    stops: before.stops + 1,
    firstStopAt: before.firstStopAt ?? at,
    firstStopReason: before.firstStopReason ?? reason,
  }
}

/** The level from which nothing is entered. */
const ENTRIES_END = 2
