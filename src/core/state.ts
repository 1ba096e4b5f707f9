import { type Timestamp, BEFORE_ALL } from './shared/brand.ts'
import { evolveBrain, INITIAL_BRAIN, type BrainState } from './brain/evolve.ts'
import { asKnown } from './events/catalogue.ts'
import type { Stamped } from './log/event.ts'
import { evolveMarket, INITIAL_MARKET, type Market } from './market/evolve.ts'
import { evolveOperations, INITIAL_OPERATIONS, type OperationsState } from './operations/evolve.ts'
import { evolveReputation, INITIAL_REPUTATION, type ReputationState } from './reputation/evolve.ts'
import { evolveSignals, INITIAL_SIGNALS, type SignalsState } from './signals/evolve.ts'
import { evolveTrading, INITIAL_TRADING, type TradingState } from './trading/evolve.ts'
import { evolveTreasury, INITIAL_TREASURY, type TreasuryState } from './treasury/evolve.ts'

/** Changes with every change of the fold: a snapshot of another version is not used. */
export const STATE_VERSION = '15'

/** All of memory, as one fold over the log: one member per context. */
export interface State {
  readonly seq: number
  /** Receive time of the newest event; it never decreases. */
  readonly recordedAt: Timestamp
  readonly market: Market
  readonly signals: SignalsState
  readonly trading: TradingState
  readonly reputation: ReputationState
  readonly brain: BrainState
  readonly treasury: TreasuryState
  readonly operations: OperationsState
}

export const INITIAL_STATE: State = {
  seq: 0,
  recordedAt: BEFORE_ALL,
  market: INITIAL_MARKET,
  signals: INITIAL_SIGNALS,
  trading: INITIAL_TRADING,
  reputation: INITIAL_REPUTATION,
  brain: INITIAL_BRAIN,
  treasury: INITIAL_TREASURY,
  operations: INITIAL_OPERATIONS,
}

export const evolve = (state: State, event: Stamped): State => {
  const known = asKnown(event)
  const { seq, recordedAt } = event
  // Types of a later release change nothing here.
  if (known === null) return { ...state, seq, recordedAt }
  return {
    seq,
    recordedAt,
    market: evolveMarket(state.market, known),
    signals: evolveSignals(state.signals, known),
    trading: evolveTrading(state.trading, known),
    reputation: evolveReputation(state.reputation, known),
    brain: evolveBrain(state.brain, known),
    treasury: evolveTreasury(state.treasury, known),
    operations: evolveOperations(state.operations, known),
  }
}
