import { type Timestamp, BEFORE_ALL } from './shared/brand.ts'
import { evolveBrain, INITIAL_BRAIN, type BrainState } from './brain/evolve.ts'
import { asKnown } from './events/catalogue.ts'
import type { Stamped } from './log/event.ts'
import { observedBar, type ObservedBar } from './market/bar.ts'
import { evolveMarket, INITIAL_MARKET, marketAfterBar, type Market } from './market/evolve.ts'
import { evolveOperations, INITIAL_OPERATIONS, type OperationsState } from './operations/evolve.ts'
import { UNSIGNED_TYPE, withUnsigned } from './operations/unsigned.ts'
import { evolveReputation, INITIAL_REPUTATION, type ReputationState } from './reputation/evolve.ts'
import { evolveSignals, INITIAL_SIGNALS, type SignalsState } from './signals/evolve.ts'
import { isFromFuture } from './shared/time.ts'
import { evolveTrading, INITIAL_TRADING, tradingAfterBar, type TradingState } from './trading/evolve.ts'
import { evolveTreasury, INITIAL_TREASURY, type TreasuryState } from './treasury/evolve.ts'

/** Changes with every change of the fold: a snapshot of another version is not used. */
export const STATE_VERSION = '30'

/** All of memory, as one fold over the log: one member per context. */
export interface State {
  readonly seq: number
  /** Receive time of the newest event; it never decreases. */
  readonly recordedAt: Timestamp
  /** When the newest event was decided: see `timesAfter`. */
  readonly decidedAt: Timestamp
  /** Receive time at which the log is stuck because a clock was ahead; null while receive times advance. */
  readonly standsAt: Timestamp | null
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
  decidedAt: BEFORE_ALL,
  standsAt: null,
  market: INITIAL_MARKET,
  signals: INITIAL_SIGNALS,
  trading: INITIAL_TRADING,
  reputation: INITIAL_REPUTATION,
  brain: INITIAL_BRAIN,
  treasury: INITIAL_TREASURY,
  operations: INITIAL_OPERATIONS,
}

export const evolve = (state: State, event: Stamped): State => {
  const { seq, recordedAt } = event
  if (event.type === UNSIGNED_TYPE) {
    const { operations } = state
    return {
      ...state,
      seq,
      recordedAt,
      operations: { ...operations, unsigned: withUnsigned(operations.unsigned, seq) },
    }
  }
  const { decidedAt, standsAt } = timesAfter(state, event)
  const known = asKnown(decidedAt === recordedAt ? event : { ...event, recordedAt: decidedAt })
  // Types of a later release change nothing here.
  if (known === null) return { ...state, seq, recordedAt, decidedAt, standsAt }
  if (known.type === 'market.bar.v1')
    return afterBar(state, observedBar(known.payload, known.payload.feed), event)
  return {
    seq,
    recordedAt,
    decidedAt,
    standsAt,
    market: evolveMarket(state.market, known),
    signals: evolveSignals(state.signals, known),
    trading: evolveTrading(state.trading, known),
    reputation: evolveReputation(state.reputation, known),
    brain: evolveBrain(state.brain, known),
    treasury: evolveTreasury(state.treasury, known),
    operations: evolveOperations(state.operations, known),
  }
}

/**
 * The state after a bar, with or without its event. Bars are frequent, and only market and trading read them:
 * `bars-are-folded.test.ts` checks it.
 */
export const afterBar = (
  state: State,
  observed: ObservedBar,
  { seq, recordedAt }: Pick<Stamped, 'seq' | 'recordedAt'>,
): State => {
  const { decidedAt, standsAt } = timesAfter(state, {
    type: 'market.bar.v1',
    ts: observed.bar.close_ts,
    recordedAt,
  })
  return {
    seq,
    recordedAt,
    decidedAt,
    standsAt,
    market: marketAfterBar(state.market, observed),
    signals: state.signals,
    trading: tradingAfterBar(state.trading, observed, decidedAt),
    reputation: state.reputation,
    brain: state.brain,
    treasury: state.treasury,
    operations: state.operations,
  }
}

/** Whether the `ts` of an event is the time of its decision: those of bars and signals come from outside. */
const isTimeOfDecision = ({ type }: Pick<Stamped, 'type'>): boolean =>
  !type.startsWith('signal.') && !type.startsWith('market.')

type Times = Pick<State, 'decidedAt' | 'standsAt'>

/**
 * `recorded_at` never decreases, so after a clock was ahead it does not advance until time has caught up. Meanwhile the
 * fold uses the times of the events themselves, except for bars and signals, whose `ts` is not the time of the
 * decision.
 */
const timesAfter = (before: Times, event: Pick<Stamped, 'type' | 'ts' | 'recordedAt'>): Times => {
  const { ts, recordedAt } = event
  if (ts === recordedAt) return { decidedAt: recordedAt, standsAt: null }
  const hasOwnTime = !isTimeOfDecision(event)
  if (hasOwnTime && recordedAt === before.standsAt) return before
  if (!hasOwnTime && isFromFuture(Date.parse(recordedAt), Date.parse(ts)))
    return { decidedAt: ts, standsAt: recordedAt }
  return { decidedAt: recordedAt, standsAt: null }
}
