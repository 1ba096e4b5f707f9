import type { LogRecord, Stamped } from '../core/log/event.ts'

/** Durable events in seq order, each exactly once. */
export interface Committed {
  readonly records: readonly LogRecord[]
  readonly events: readonly Stamped[]
}

type Subscriber = (committed: Committed) => void

/** Publishes stored events inside the process, including those of other processes. Subscribers must not throw. */
export class EventBus {
  readonly #subscribers = new Set<Subscriber>()

  subscribe(subscriber: Subscriber): () => void {
    this.#subscribers.add(subscriber)
    return () => {
      this.#subscribers.delete(subscriber)
    }
  }

  publish(committed: Committed): void {
    if (committed.events.length === 0) return
    for (const subscriber of this.#subscribers) subscriber(committed)
  }
}
