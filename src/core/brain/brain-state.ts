import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import type { Staleness } from './cycle.ts'

/** What the brain remembers between cycles. */
export interface BrainState {
  readonly regime: RegimeMemory | null
  readonly lastCycle: { readonly id: string; readonly at: string } | null
  readonly staleness: Staleness
}

export interface RegimeMemory {
  readonly regime: PayloadOf<'brain.regime_change.v1'>['regime']
  readonly changedAt: string
  readonly evidence: PayloadOf<'brain.regime_change.v1'>['evidence']
}

export const INITIAL_BRAIN_STATE: BrainState = {
  regime: null,
  lastCycle: null,
  staleness: { staleCycles: 0, everScored: false },
}

export const evolveBrainState = (mind: BrainState, event: KnownEvent): BrainState => {
  switch (event.type) {
    case 'brain.regime_change.v1': {
      const { regime, evidence } = event.payload
      return { ...mind, regime: { regime, changedAt: event.ts, evidence } }
    }
    case 'brain.cycle.v1': {
      const { cycle_id: id, started_at: at, stale_cycles: staleCycles, signals_used: used } = event.payload
      const scored = Object.values(used).some((ids) => ids.length > 0)
      return {
        ...mind,
        lastCycle: { id, at },
        staleness: { staleCycles, everScored: mind.staleness.everScored || scored },
      }
    }
    case 'system.kill_switch.v1':
      // Whoever lowers the level starts the count anew.
      return event.payload.reset_by === undefined
        ? mind
        : { ...mind, staleness: { ...mind.staleness, staleCycles: 0 } }
    default:
      return mind
  }
}
