import { evolveBrainState, INITIAL_BRAIN_STATE, type BrainState } from './brain/brain-state.ts'
import { evolveContributors, INITIAL_CONTRIBUTORS, type Contributors } from './signals/contributors.ts'
import { asKnown, type KnownEvent } from './events/catalogue.ts'
import { evolveKarma, INITIAL_KARMA, type Karma } from './treasury/treasury-state.ts'
import { evolveKillSwitch, INITIAL_KILL_SWITCH, type KillSwitch } from './trading/kill-switch.ts'
import type { Stamped } from './log/event.ts'
import { evolveCoSignals, NO_CO_SIGNALS, type CoSignals } from './signals/co-signals.ts'
import { evolveLedger, INITIAL_LEDGER, type Ledger } from './trading/ledger.ts'
import { evolveLearning, INITIAL_LEARNING, type Learning } from './brain/learning.ts'
import { evolveMarket, INITIAL_MARKET, type Market } from './market/market.ts'
import { evolveNodes, INITIAL_NODES, type Nodes } from './operations/nodes.ts'
import { evolveIntents, INITIAL_INTENTS, type Intents } from './trading/intents.ts'
import { evolveOrders, INITIAL_ORDERS, type Orders } from './trading/orders.ts'
import { INITIAL_BOOK, type Book } from './trading/book.ts'
import { evolvePortfolio } from './trading/evolve-portfolio.ts'
import { INITIAL_POSITIONS, type Positions } from './trading/positions.ts'
import { evolveFeedback, INITIAL_FEEDBACK, type FeedbackLedger } from './reputation/feedback.ts'
import { evolveProducers, INITIAL_PRODUCERS, type Producers } from './signals/producers.ts'
import { evolveRisk, INITIAL_RISK, type Risk } from './trading/risk.ts'
import { evolveLatestSignals, NO_LATEST_SIGNALS, type LatestSignals } from './signals/latest-signals.ts'
import { evolveTrails, INITIAL_TRAILS, type Trails } from './signals/trails.ts'
import { evolveTraces, INITIAL_TRACES, type Traces } from './signals/traces.ts'
import { evolveVenue, INITIAL_VENUE, type Venue } from './trading/venue.ts'
import { evolveOutcomes, INITIAL_OUTCOMES, type Outcomes } from './reputation/outcomes.ts'
import { evolveCalls, INITIAL_CALLS, type Calls } from './reputation/calls.ts'
import type { Usd } from './shared/money.ts'

/** Changes with every change of the fold: a snapshot of another version is not used. */
export const STATE_VERSION = '8'

/** All of memory, as one fold over the log. */
export interface State {
  readonly seq: number
  /** Receive time of the newest event; it never decreases. */
  readonly recordedAt: string
  readonly killSwitch: KillSwitch
  readonly nodes: Nodes
  readonly contributors: Contributors
  readonly links: CoSignals
  readonly producers: Producers
  readonly judgements: FeedbackLedger
  readonly trails: Trails
  readonly traces: Traces
  readonly board: LatestSignals
  readonly market: Market
  readonly mind: BrainState
  readonly intents: Intents
  readonly orders: Orders
  readonly venue: Venue
  readonly positions: Positions
  readonly calls: Calls
  readonly outcomes: Outcomes
  readonly book: Book
  readonly ledger: Ledger
  readonly risk: Risk
  readonly learning: Learning
  readonly karma: Karma
  readonly configHash: string | null
}

export const INITIAL_STATE: State = {
  seq: 0,
  recordedAt: '',
  killSwitch: INITIAL_KILL_SWITCH,
  nodes: INITIAL_NODES,
  contributors: INITIAL_CONTRIBUTORS,
  links: NO_CO_SIGNALS,
  producers: INITIAL_PRODUCERS,
  judgements: INITIAL_FEEDBACK,
  trails: INITIAL_TRAILS,
  traces: INITIAL_TRACES,
  board: NO_LATEST_SIGNALS,
  market: INITIAL_MARKET,
  mind: INITIAL_BRAIN_STATE,
  intents: INITIAL_INTENTS,
  orders: INITIAL_ORDERS,
  venue: INITIAL_VENUE,
  positions: INITIAL_POSITIONS,
  calls: INITIAL_CALLS,
  outcomes: INITIAL_OUTCOMES,
  book: INITIAL_BOOK,
  ledger: INITIAL_LEDGER,
  risk: INITIAL_RISK,
  learning: INITIAL_LEARNING,
  karma: INITIAL_KARMA,
  configHash: null,
}

export const evolve = (state: State, event: Stamped): State => {
  const known = asKnown(event)
  const { seq, recordedAt } = event
  if (known === null) return { ...state, seq, recordedAt }
  const portfolio = evolvePortfolio(state, known)
  const before = { equity: equityOf(state), hasTraded: state.ledger.hasTraded }
  return {
    seq,
    recordedAt,
    killSwitch: evolveKillSwitch(state.killSwitch, known),
    nodes: evolveNodes(state.nodes, known),
    contributors: evolveContributors(state.contributors, known),
    links: evolveCoSignals(state.links, known),
    producers: evolveProducers(state.producers, known),
    judgements: evolveFeedback(state.judgements, known),
    trails: evolveTrails(state.trails, known),
    traces: evolveTraces(state.traces, known),
    board: evolveLatestSignals(state.board, known),
    market: evolveMarket(state.market, known),
    mind: evolveBrainState(state.mind, known),
    intents: evolveIntents(state.intents, known),
    orders: evolveOrders(state.orders, known),
    venue: evolveVenue(state.venue, known),
    positions: portfolio.positions,
    calls: evolveCalls(state.calls, known),
    outcomes: evolveOutcomes(state.outcomes, known),
    book: portfolio.book,
    ledger: evolveLedger(state.ledger, known),
    risk: evolveRisk(state.risk, known, before),
    learning: evolveLearning(state.learning, known),
    karma: evolveKarma(state.karma, known),
    configHash: evolveConfigHash(state.configHash, known),
  }
}

/** Cash, and what open positions would bring at their marks. */
export const equityOf = ({ ledger, book }: Pick<State, 'ledger' | 'book'>): Usd =>
  ledger.cash + book.unrealized

const evolveConfigHash = (hash: string | null, event: KnownEvent): string | null =>
  event.type === 'system.config_changed.v1' ? event.payload.config_hash : hash
