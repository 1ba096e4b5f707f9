import type { LogRecord, Stamped } from '../core/log/event.ts'

/** Events that are durable, in seq order, each exactly once. */
export interface Committed {
  readonly records: readonly LogRecord[]
  readonly events: readonly Stamped[]
}

type Subscriber = (committed: Committed) => void

/** Publishes stored events inside the process, also those that another process stored. Subscribers must not throw. */
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
