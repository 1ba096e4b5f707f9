import { asKnown, type NewEvent } from '../events/catalogue.ts'
import { assert } from '../shared/assert.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { JsonObject } from '../shared/json.ts'
import { evolveTrading, type TradingFacts } from './evolve.ts'

/** Events that follow from one another inside one decision: each is decided on the state after the ones before it. */
export class EventBuilder {
  readonly events: NewEvent[] = []
  facts: TradingFacts
  readonly #now: string

  constructor(facts: TradingFacts, { now }: DecisionContext) {
    this.facts = facts
    this.#now = now
  }

  append(...events: readonly NewEvent[]): void {
    for (const event of events) {
      this.events.push(event)
      const known = asKnown({
        seq: 0,
        id: '',
        type: event.type,
        ts: event.ts ?? this.#now,
        source: event.source,
        traceId: null,
        dedupeKey: null,
        payload: event.payload as unknown as JsonObject,
        recordedAt: this.#now,
      })
      assert(known !== null, `trading wrote an event of unknown type ${event.type}`)
      this.facts = { ...this.facts, trading: evolveTrading(this.facts.trading, known) }
    }
  }
}
