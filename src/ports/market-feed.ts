import type { FeedBar } from '../core/market/bar.ts'
import type { Producer } from './producer.ts'

export interface Tick {
  readonly symbol: string
  readonly price: number
  /** Milliseconds since 1970, UTC. */
  readonly atMs: number
}

/** State of the store, from which the feed continues. */
export interface FeedStart {
  /** Symbols of the universe, in the spelling of the configuration. */
  readonly symbols: readonly string[]
  /** Number of starts on this store, from 1. Restarts therefore do not repeat the same simulated future. */
  readonly segment: number
  /** Latest bar of each symbol that has one. */
  readonly lastBars: ReadonlyMap<string, FeedBar>
}

export interface FeedListener {
  /**
   * Receives bars that closed at the same time. Resolves once they are stored, which the feed waits for. Undefined if
   * there is nothing to wait for.
   */
  onBars(bars: readonly FeedBar[]): Promise<void> | undefined
  /** Updates the displayed mark price. Ticks are not stored. */
  onTick(tick: Tick): void
  /** Reports an error from which the feed recovers by itself, in words for an operator. */
  onError(message: string): void
}

export interface FeedStatus {
  /** `ended`: a file was read to its end. */
  readonly state: 'idle' | 'running' | 'failing' | 'ended' | 'stopped'
  readonly lastBarAtMs: number | null
  /** Clock of the venue minus ours; null if it is not measured. */
  readonly clockOffsetMs: number | null
  /** The current error of a failing feed. */
  readonly error: string | null
}

/** A source of prices. */
export interface MarketFeed {
  /** Name of the feed, which becomes the `feed` of its bars. */
  readonly name: string
  /** Producers that only this feed can supply, because they read its internal state. */
  readonly producers: readonly Producer[]
  /** Resolves once its history is delivered and it runs. Rejects if it cannot start at all. */
  start(from: FeedStart, listener: FeedListener): Promise<void>
  status(): FeedStatus
  /** Stops the feed. The listener is not called after this resolves. */
  stop(): Promise<void>
}
