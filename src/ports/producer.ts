import type { MarketView } from '../core/market/readings.ts'
import type { JsonObject } from '../core/shared/json.ts'

export interface ProducedRow {
  readonly type: string
  readonly payload: JsonObject
}

export type ProducerRun =
  | { readonly status: 'ran'; readonly rows: readonly ProducedRow[] }
  /**
   * The feed lacks data that the producer needs, or its history is too short. This is no error, but gives no signals.
   */
  | { readonly status: 'degraded'; readonly reason: string }

/** Derives signals from market data, on bar time. A pure function of the view. */
export interface Producer {
  readonly name: string
  run(view: MarketView): ProducerRun
}

/** A producer in a user's file, wherever its code runs. It may fail, and take too long. */
export interface OwnProducer {
  readonly name: string
  readonly domain: string
  /** A cron line of five fields, UTC. */
  readonly schedule: string
  run(view: MarketView): Promise<ProducerRun>
  close(): Promise<void>
}
