import type { KnownEvent } from '../events/catalogue.ts'
import type { ObservedBar } from '../market/bar.ts'
import type { Market } from '../market/evolve.ts'
import type { Timestamp } from '../shared/brand.ts'
import type { SignalsState } from '../signals/evolve.ts'
import { evolvePortfolio, portfolioAfterBar } from './positions/portfolio.ts'
import { INITIAL_PORTFOLIO, type Book } from './positions/book.ts'
import {
  evolveCycles,
  INITIAL_CYCLES,
  type CycleFacts,
  evolveKillSwitch,
  INITIAL_KILL_SWITCH,
  type KillSwitch,
} from './risk/kill-switch.ts'
import type { Positions } from './positions/positions.ts'
import { evolveIntents, INITIAL_INTENTS, type Intents } from './orders/intents.ts'
import { evolveLedger, INITIAL_LEDGER, type Ledger } from './risk/ledger.ts'
import { evolveOrders, INITIAL_ORDERS, type Orders } from './orders/orders.ts'
import { equityOf, evolveRisk, INITIAL_RISK, lookedAt, type Risk } from './risk/account.ts'
import { evolveVenue, INITIAL_VENUE, venueAfterBar, type Venue } from './venue/venue.ts'

export interface TradingState {
  readonly killSwitch: KillSwitch
  readonly intents: Intents
  readonly orders: Orders
  readonly venue: Venue
  readonly positions: Positions
  readonly book: Book
  readonly ledger: Ledger
  readonly risk: Risk
  readonly cycles: CycleFacts
  /** Fencing token of the current leader; 0 before the first. It is part of the name of every order. */
  readonly leaderToken: number
}

/** State that trading reads: its own, prices, and the producers that may report prices. */
export interface TradingFacts {
  readonly trading: TradingState
  readonly market: Market
  readonly signals: SignalsState
}

export const INITIAL_TRADING: TradingState = {
  killSwitch: INITIAL_KILL_SWITCH,
  intents: INITIAL_INTENTS,
  orders: INITIAL_ORDERS,
  venue: INITIAL_VENUE,
  ...INITIAL_PORTFOLIO,
  ledger: INITIAL_LEDGER,
  risk: INITIAL_RISK,
  cycles: INITIAL_CYCLES,
  leaderToken: 0,
}

/** Trading after a bar: prices of positions, and the equity before it. */
export const tradingAfterBar = (
  state: TradingState,
  observed: ObservedBar,
  recordedAt: Timestamp,
): TradingState => {
  const { positions, book } = portfolioAfterBar(state, observed)
  const before = { equity: equityOf(state), hasTraded: state.ledger.hasTraded }
  return {
    killSwitch: state.killSwitch,
    intents: state.intents,
    orders: state.orders,
    venue: venueAfterBar(state.venue, observed, recordedAt),
    positions,
    book,
    ledger: state.ledger,
    risk: lookedAt(state.risk, { recordedAt }, before),
    cycles: state.cycles,
    leaderToken: state.leaderToken,
  }
}

export const evolveTrading = (state: TradingState, event: KnownEvent): TradingState => {
  const { positions, book } = evolvePortfolio(state, event)
  const before = { equity: equityOf(state), hasTraded: state.ledger.hasTraded }
  return {
    killSwitch: evolveKillSwitch(state.killSwitch, event),
    intents: evolveIntents(state.intents, event),
    orders: evolveOrders(state.orders, event),
    venue: evolveVenue(state.venue, event),
    positions,
    book,
    ledger: evolveLedger(state.ledger, event, state.positions),
    risk: evolveRisk(state.risk, event, before),
    cycles: evolveCycles(state.cycles, event),
    leaderToken: event.type === 'system.leader.v1' ? event.payload.token : state.leaderToken,
  }
}
