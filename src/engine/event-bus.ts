import type { LogRecord, Stamped } from '../core/log/event.ts'

/** Events that are durable, in seq order, each exactly once. */
export interface Committed {
  readonly records: readonly LogRecord[]
  readonly events: readonly Stamped[]
}

export type FeedListener = (committed: Committed) => void

/** Tells what was stored, whoever stored it. Listeners must not throw and must not wait. */
export class Feed {
  readonly #listeners = new Set<FeedListener>()

  subscribe(listener: FeedListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  publish(committed: Committed): void {
    if (committed.events.length === 0) return
    for (const listener of this.#listeners) listener(committed)
  }
}
