import type { FeedBar } from '../core/market/bar.ts'
import type { Producer } from './producer.ts'

export interface Tick {
  readonly symbol: string
  readonly price: number
  /** Milliseconds since 1970, UTC. */
  readonly atMs: number
}

/** What is stored already: the feed continues from there. */
export interface FeedStart {
  /** The universe, in the spelling of the configuration. */
  readonly symbols: readonly string[]
  /** How often this store was started before, from 1: restarts do not repeat the same simulated future. */
  readonly segment: number
  /** The newest bar of each symbol that has one. */
  readonly lastBars: ReadonlyMap<string, FeedBar>
}

export interface FeedListener {
  /**
   * Bars that closed at the same time. Resolves when they are stored: a feed waits for it. Undefined if there is nothing
   * to wait for.
   */
  onBars(bars: readonly FeedBar[]): Promise<void> | undefined
  /** Moves the displayed mark price; not stored. */
  onTick(tick: Tick): void
  /** What the feed gets over by itself, in words for an operator. */
  onError(message: string): void
}

export interface FeedStatus {
  /** `ended`: a file that was read to its end. */
  readonly state: 'idle' | 'running' | 'failing' | 'ended' | 'stopped'
  readonly lastBarAtMs: number | null
  /** Clock of the venue minus ours, where it is measured. */
  readonly clockOffsetMs: number | null
  /** The current error of a failing feed. */
  readonly error: string | null
}

/** Where prices come from. */
export interface MarketFeed {
  /** Becomes the `feed` of its bars. */
  readonly name: string
  /** Producers that only this feed can supply, because they read its internal state. */
  readonly producers: readonly Producer[]
  /** Resolves when its history is delivered and it runs. Rejects if it cannot start at all. */
  start(from: FeedStart, listener: FeedListener): Promise<void>
  status(): FeedStatus
  /** The listener is not called after it resolves. */
  stop(): Promise<void>
}
