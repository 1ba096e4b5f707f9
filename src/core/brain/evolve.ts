import type { Timestamp } from '../shared/brand.ts'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import type { ReputationFacts } from '../reputation/evolve.ts'
import { evolveLearning, INITIAL_LEARNING, type Learning } from './learning.ts'

/** State of the brain between cycles. */
export interface BrainState {
  readonly regime: RegimeMemory | null
  readonly lastCycle: { readonly id: string; readonly at: Timestamp } | null
  readonly staleness: Staleness
  readonly learning: Learning
}

export interface Staleness {
  /** Cycles in a row without any usable signal. */
  readonly staleCycles: number
  /** False until a first signal was scored: data that was never available is not stale. */
  readonly everScored: boolean
}

/** State that the brain reads: everything that a decision to trade depends on. */
export interface BrainFacts extends ReputationFacts {
  readonly brain: BrainState
}

interface RegimeMemory {
  readonly regime: PayloadOf<'brain.regime_change.v1'>['regime']
  readonly changedAt: Timestamp
  readonly evidence: PayloadOf<'brain.regime_change.v1'>['evidence']
  /** Time of the cycle that recorded the evidence, even if it did not change the regime. */
  readonly evidenceAt: Timestamp
}

export const INITIAL_BRAIN: BrainState = {
  regime: null,
  lastCycle: null,
  staleness: { staleCycles: 0, everScored: false },
  learning: INITIAL_LEARNING,
}

export const evolveBrain = (before: BrainState, event: KnownEvent): BrainState => {
  const brain = evolveCycles(before, event)
  const learning = evolveLearning(before.learning, event)
  return learning === brain.learning ? brain : { ...brain, learning }
}

const evolveCycles = (brain: BrainState, event: KnownEvent): BrainState => {
  switch (event.type) {
    case 'brain.regime_change.v1': {
      const { regime, evidence } = event.payload
      return { ...brain, regime: { regime, changedAt: event.ts, evidence, evidenceAt: event.ts } }
    }
    case 'brain.cycle.v1': {
      const {
        cycle_id: id,
        started_at: at,
        stale_cycles: staleCycles,
        signals_used: used,
        evidence,
      } = event.payload
      const { regime, staleness } = brain
      const everScored = staleness.everScored || Object.values(used).some((ids) => ids.length > 0)
      return {
        ...brain,
        regime: regime && evidence ? { ...regime, evidence, evidenceAt: at } : regime,
        lastCycle: { id, at },
        staleness: { staleCycles, everScored },
      }
    }
    case 'system.kill_switch.v1':
      // Lowering the level restarts the count.
      return event.payload.reset_by === undefined
        ? brain
        : { ...brain, staleness: { ...brain.staleness, staleCycles: 0 } }
    default:
      return brain
  }
}
