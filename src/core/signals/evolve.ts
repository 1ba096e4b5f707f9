import type { KnownEvent } from '../events/catalogue.ts'
import { evolveContributors, INITIAL_CONTRIBUTORS, type Contributors } from './contributors.ts'
import { evolveLatestSignals, NO_LATEST_SIGNALS, type LatestSignals } from './latest-signals.ts'
import { evolveProducers, INITIAL_PRODUCERS, type Producers } from './producers.ts'
import { evolveTraces, INITIAL_TRACES, type Traces } from './traces.ts'
import { evolveTrails, INITIAL_TRAILS, type Trails } from './trails.ts'

export interface SignalsState {
  readonly contributors: Contributors
  readonly producers: Producers
  readonly latest: LatestSignals
  readonly trails: Trails
  readonly traces: Traces
}

export const INITIAL_SIGNALS: SignalsState = {
  contributors: INITIAL_CONTRIBUTORS,
  producers: INITIAL_PRODUCERS,
  latest: NO_LATEST_SIGNALS,
  trails: INITIAL_TRAILS,
  traces: INITIAL_TRACES,
}

export const evolveSignals = (state: SignalsState, event: KnownEvent): SignalsState => ({
  contributors: evolveContributors(state.contributors, event),
  producers: evolveProducers(state.producers, event),
  latest: evolveLatestSignals(state.latest, event),
  trails: evolveTrails(state.trails, event),
  traces: evolveTraces(state.traces, event),
})
