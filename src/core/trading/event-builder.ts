import type { NewEvent } from '../events/catalogue.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { evolve, type State } from '../state.ts'
import type { JsonObject } from '../shared/json.ts'

/** Events that follow from one another: each is decided on what the ones before it came to. */
export class EventBuilder {
  readonly events: NewEvent[] = []
  state: State
  readonly #now: string

  constructor(state: State, { now }: DecisionContext) {
    this.state = state
    this.#now = now
  }

  tell(...told: readonly NewEvent[]): void {
    for (const event of told) {
      this.events.push(event)
      this.state = evolve(this.state, {
        seq: this.state.seq + 1,
        id: '',
        type: event.type,
        ts: event.ts ?? this.#now,
        source: event.source,
        traceId: null,
        dedupeKey: null,
        payload: event.payload as unknown as JsonObject,
        recordedAt: this.#now,
      })
    }
  }
}
