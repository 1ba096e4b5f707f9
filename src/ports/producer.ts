import type { MarketView } from '../core/market/readings.ts'
import type { JsonObject } from '../core/shared/json.ts'

export interface ProducedRow {
  readonly type: string
  readonly payload: JsonObject
}

export type ProducerRun =
  | { readonly status: 'ran'; readonly rows: readonly ProducedRow[] }
  /** The feed lacks what it needs, or history is too short: nothing is wrong, and nothing can be said. */
  | { readonly status: 'degraded'; readonly reason: string }

/** Makes signals out of market data, on bar time. A pure function of what it is shown. */
export interface Producer {
  readonly name: string
  run(view: MarketView): ProducerRun
}
