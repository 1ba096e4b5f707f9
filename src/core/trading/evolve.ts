import type { KnownEvent } from '../events/catalogue.ts'
import type { Market } from '../market/evolve.ts'
import type { Usd } from '../shared/money.ts'
import type { SignalsState } from '../signals/evolve.ts'
import { INITIAL_BOOK, type Book } from './book.ts'
import { evolveCycles, INITIAL_CYCLES, type CycleFacts } from './conditions.ts'
import { evolvePortfolio } from './evolve-portfolio.ts'
import { evolveIntents, INITIAL_INTENTS, type Intents } from './intents.ts'
import { evolveKillSwitch, INITIAL_KILL_SWITCH, type KillSwitch } from './kill-switch.ts'
import { evolveLedger, INITIAL_LEDGER, type Ledger } from './ledger.ts'
import { evolveOrders, INITIAL_ORDERS, type Orders } from './orders.ts'
import { INITIAL_POSITIONS, type Positions } from './positions.ts'
import { evolveRisk, INITIAL_RISK, type Risk } from './risk.ts'
import { evolveVenue, INITIAL_VENUE, type Venue } from './venue.ts'

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
}

/** What trading reads: its own state, prices, and who may report prices. */
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
  positions: INITIAL_POSITIONS,
  book: INITIAL_BOOK,
  ledger: INITIAL_LEDGER,
  risk: INITIAL_RISK,
  cycles: INITIAL_CYCLES,
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
    ledger: evolveLedger(state.ledger, event),
    risk: evolveRisk(state.risk, event, before),
    cycles: evolveCycles(state.cycles, event),
  }
}

/** Cash, and what open positions would bring at their marks. */
export const equityOf = ({ ledger, book }: Pick<TradingState, 'ledger' | 'book'>): Usd =>
  ledger.cash + book.unrealized
