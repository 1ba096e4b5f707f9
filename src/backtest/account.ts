import { asKnown, type PayloadOf } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { State } from '../core/state.ts'
import { equityOf } from '../core/trading/risk/account.ts'
import { usdNumber } from '../core/shared/money.ts'
import { r9 } from '../core/shared/numbers.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import type { StrategyProposal } from '../core/strategies/strategy.ts'
import { DataHash } from './data-hash.ts'
import { EquityTracker } from './equity-tracker.ts'
import { MarketLineTracker, type FillCosts } from './market-line.ts'
import { CurveHistory, PriceHistory } from './price-history.ts'
import { causeText, Notices, type KillLimits } from './notices.ts'
import { meanOf } from './statistics.ts'
import { TradeReasons, type TradeReason } from './trade-reasons.ts'

/** History of the account during a run. */
export type AccountHistory = ReturnType<AccountTracker['history']>

/** How often the kill switch blocked all entries, and when and why it first did. Uses the names of the report. */
export interface KillSwitchHistory {
  readonly level: number
  readonly stops: number
  readonly first_stop_at: string | null
  readonly first_stop_reason: string | null
  /** The causes of the reductions as text, with the limits. */
  readonly first_stop_cause: string | null
  /** Closed trades before the first stop; null without one. */
  readonly trades_before_stop: number | null
  /** Number of times that the simulated operator lowered the level. */
  readonly lowered: number
}

/** A trade from its first fill to its last. Uses the names of the report. */
export interface ClosedTrade extends Opening {
  readonly closed_at: string
  readonly exit_price: number
  /** Profit before fees and funding. */
  readonly gross_usd: number
  readonly fees_usd: number
  /** Funding; positive if paid. */
  readonly funding_usd: number
  /** Profit after fees and funding. */
  readonly net_usd: number
  /** Net profit as a share of the size. */
  readonly net_return: number
  readonly exit_reason: string
  /** The worst and the best price while the trade was open, as parts of the entry price. */
  readonly max_adverse_excursion: number
  readonly max_favorable_excursion: number
}

interface Opening {
  /** Null for trades after the first thousand. */
  readonly why: TradeReason | null
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly opened_at: string
  readonly entry_price: number
  readonly quantity: number
  readonly size_usd: number
  /** Size divided by equity. */
  readonly equity_share: number
  readonly regime: string
}

/** The account after bars have closed. */
export interface AccountAtClose {
  readonly equityUsd: number
  /** Exposure at the last prices. */
  readonly exposureUsd: number
  readonly isHolding: boolean
}

/** Follows the account through every event and every close. */
export class AccountTracker {
  readonly #heldBack = new Map<string, number>()
  readonly #open = new Map<string, Opening>()
  readonly #trades: ClosedTrade[] = []
  readonly #reasons = new TradeReasons()
  readonly #hash = new DataHash()
  readonly #prices = new PriceHistory()
  readonly #curve = new CurveHistory()
  #equity = new EquityTracker(0)
  #market = new MarketLineTracker(0, NO_COSTS)
  #traded = 0
  #fees = 0
  #funding = 0
  #proposed = 0
  #closes = 0
  #closesHeld = 0
  #exposureSum = 0
  #exposureMax = 0
  #killSwitch: KillSwitchHistory = NO_STOPS
  readonly #held = new Map<string, 'long' | 'short'>()
  #limits: KillLimits = { heat: 1, drawdown: 1 }
  readonly #notices = new Notices()

  record(events: readonly Stamped[]): void {
    for (const event of events) this.#recordOne(event)
  }

  /** Sets the initial state, and the costs of fills. */
  start(state: State, costs: FillCosts, limits: KillLimits): void {
    this.#limits = limits
    const startUsd = usdNumber(equityOf(state.trading))
    this.#equity = new EquityTracker(startUsd)
    this.#market = new MarketLineTracker(startUsd, costs)
  }

  /** Adds bars that are not traded. */
  warmUp(openMs: number, bars: readonly FeedBar[]): void {
    this.#hash.add(openMs, bars)
    this.#market.warmUp(bars)
  }

  /** Called after the bars that opened at `openMs` have closed. Runs for every bar, so it must stay cheap. */
  close(account: AccountAtClose, openMs: number, bars: readonly FeedBar[]): void {
    const closeMs = openMs + (bars[0]?.resolution_s ?? 0) * 1000
    const equity = account.equityUsd
    this.#equity.close(equity, openMs, closeMs)
    this.#market.close(bars, openMs, closeMs)
    this.#hash.add(openMs, bars)
    this.#prices.add(openMs, bars)
    this.#curve.add(closeMs, equity, this.#market.value, this.#equity.fall)
    this.#closes += 1
    if (!account.isHolding) return
    const exposure = equity > 0 ? account.exposureUsd / equity : 0
    this.#closesHeld += 1
    this.#exposureSum += exposure
    this.#exposureMax = Math.max(this.#exposureMax, exposure)
  }

  history() {
    const tracked = this.#equity.tracked()
    const meanEquity = meanOf(tracked.days)
    return {
      ...tracked,
      /** Trades in the order in which they ended. */
      trades: this.#trades as readonly ClosedTrade[],
      maxDrawdown: tracked.drawdown.depth,
      /** Traded volume divided by the mean daily equity. */
      turnover: meanEquity > 0 ? this.#traded / meanEquity : 0,
      tradedUsd: this.#traded,
      fees: this.#fees,
      /** Funding; positive if paid. */
      funding: this.#funding,
      /** Reasons why no trade was made, with their counts. */
      heldBack: Object.fromEntries([...this.#heldBack].toSorted(([, one], [, other]) => other - one)),
      /** Number of trades that the brain or a rule proposed. */
      proposed: this.#proposed,
      killSwitch: this.#killSwitch,
      reductions: this.#notices.reductions(),
      unprotected: this.#notices.unprotected(),
      ignoredRequests: this.#notices.ignoredRequests(),
      /** Exposure over all closes. Uses the names of the report. */
      exposure: {
        /** Share of the closes with an open position. */
        time_share: this.#closes === 0 ? 0 : this.#closesHeld / this.#closes,
        /** Value of the positions divided by equity: mean and maximum. */
        mean: this.#closes === 0 ? 0 : this.#exposureSum / this.#closes,
        max: this.#exposureMax,
      },
      marketLine: this.#market.line(),
      /** See `DataHash`. */
      dataHash: this.#hash.digest(),
      curve: this.#curve.points(),
      candles: this.#prices.candles(),
      prices: this.#prices.paths(),
    }
  }

  #recordOne(event: Stamped): void {
    const known = asKnown(event)
    if (known !== null) this.#reasons.take(known)
    switch (known?.type) {
      case 'execution.position_opened.v1': {
        const opening = this.#openingOf(known.payload, event.recordedAt)
        this.#open.set(known.payload.position_id, opening)
        this.#notices.opened(known.payload, {
          at: event.recordedAt,
          equityShare: opening.equity_share,
          limits: this.#limits,
        })
        this.#held.set(canonicalSymbol(known.payload.asset), known.payload.direction)
        return
      }
      case 'execution.position_closed.v1': {
        const opening = this.#open.get(known.payload.position_id)
        if (opening === undefined) return
        this.#open.delete(known.payload.position_id)
        this.#held.delete(canonicalSymbol(opening.symbol))
        this.#trades.push(tradeOf(opening, known.payload, event.recordedAt))
        return
      }
      case 'execution.order_submitted.v1':
        this.#notices.ordered(known.payload, event.recordedAt)
        return
      case 'execution.order_filled.v1':
        this.#traded += known.payload.notional_usd
        this.#fees += known.payload.fee_usd
        return
      case 'execution.funding_applied.v1':
        this.#funding += known.payload.amount_usd
        return
      case 'execution.trade_intent.v1':
        this.#proposed += 1
        return
      case 'execution.order_failed.v1':
        this.countHeldBack(known.payload.reasons)
        return
      case 'brain.conviction.v1':
        this.countHeldBack(known.payload.decision.reasons)
        return
      case 'system.kill_switch.v1':
        this.#killSwitch = afterSwitch(this.#killSwitch, known.payload, {
          at: event.recordedAt,
          trades: this.#trades.length,
        })
        return
      default:
    }
  }

  #openingOf(opened: PayloadOf<'execution.position_opened.v1'>, at: string): Opening {
    const { asset, direction, entry_price, quantity, size_notional, regime_at_entry } = opened
    return {
      symbol: asset,
      direction,
      opened_at: at,
      entry_price,
      quantity,
      size_usd: size_notional,
      equity_share: this.#equity.value > 0 ? r9(size_notional / this.#equity.value) : 0,
      regime: regime_at_entry,
      why: this.#reasons.of(opened),
    }
  }

  /** A proposal of the strategy that became an intent. */
  proposalTaken(proposal: StrategyProposal): void {
    this.#notices.entered(proposal)
  }

  /** A proposal without consequences. Runs for most answers of a strategy, so it must stay cheap. */
  proposalIgnored(proposal: StrategyProposal): void {
    if (proposal.side === 'flat') return
    const held = this.#held.get(canonicalSymbol(proposal.symbol))
    if (held === proposal.side) this.#notices.ignored(proposal)
    else if (held === undefined && this.#killSwitch.level >= ENTRIES_BLOCKED) this.countHeldBack(KILL_SWITCH)
  }

  /** Counts the reasons why no trade was made. */
  countHeldBack(reasons: readonly string[]): void {
    for (const reason of reasons) this.#heldBack.set(reason, (this.#heldBack.get(reason) ?? 0) + 1)
  }
}

const NO_COSTS: FillCosts = { feeBps: 0, slippageBps: 0 }

const tradeOf = (
  opening: Opening,
  closed: PayloadOf<'execution.position_closed.v1'>,
  closedAt: string,
): ClosedTrade => ({
  ...opening,
  closed_at: closedAt,
  exit_price: closed.exit_price,
  gross_usd: closed.gross_pnl,
  fees_usd: closed.fees_usd,
  funding_usd: closed.funding_usd,
  net_usd: closed.realized_pnl,
  net_return: closed.realized_pnl_pct,
  exit_reason: closed.exit_reason,
  // A stop or target ends a trade inside its last bar. The rest of that bar is not part of the trade.
  max_adverse_excursion: cappedAtExit(closed.max_adverse_pct, opening, closed, 'stop_loss'),
  max_favorable_excursion: cappedAtExit(closed.max_favorable_pct, opening, closed, 'take_profit'),
})

const cappedAtExit = (
  excursion: number,
  { entry_price: entryPrice }: Opening,
  { exit_price: exitPrice, exit_reason: reason }: PayloadOf<'execution.position_closed.v1'>,
  capping: 'stop_loss' | 'take_profit',
): number => (reason === capping ? Math.min(excursion, r9(Math.abs(exitPrice / entryPrice - 1))) : excursion)

const afterSwitch = (
  before: KillSwitchHistory,
  { level, reason, triggers = [], reset_by: loweredBy }: PayloadOf<'system.kill_switch.v1'>,
  { at, trades }: { readonly at: string; readonly trades: number },
): KillSwitchHistory => {
  const lowered = before.lowered + (loweredBy === undefined ? 0 : 1)
  if (level < ENTRIES_BLOCKED || before.level >= ENTRIES_BLOCKED) return { ...before, level, lowered }
  return {
    level,
    lowered,
    first_stop_cause: before.first_stop_at === null ? causeText(triggers) : before.first_stop_cause,
    trades_before_stop: before.trades_before_stop ?? trades,
    stops: before.stops + 1,
    first_stop_at: before.first_stop_at ?? at,
    first_stop_reason: before.first_stop_reason ?? reason,
  }
}

const NO_STOPS: KillSwitchHistory = {
  level: 0,
  stops: 0,
  first_stop_at: null,
  first_stop_reason: null,
  first_stop_cause: null,
  trades_before_stop: null,
  lowered: 0,
}

const KILL_SWITCH = ['kill_switch']

/** Lowest level at which entries are blocked. */
const ENTRIES_BLOCKED = 2
