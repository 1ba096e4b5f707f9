import { expect } from 'vitest'
import type { Command } from '../src/core/commands.ts'
import type { EventType, NewEvent } from '../src/core/events/catalogue.ts'
import type { Stamped } from '../src/core/log/event.ts'
import { run, type RunResult } from '../src/core/run.ts'
import { evolve, INITIAL_STATE, type State } from '../src/core/state.ts'
import type { RefusalCode } from '../src/core/vocabulary/refusals.ts'
import type { JsonObject } from '../src/core/vocabulary/json.ts'

const NOW = '2026-02-20T00:30:00.000Z'

/** Tests speak in events: given what happened, when this is asked, then that follows. */
export const given = (...happened: readonly NewEvent[]) => ({
  when: (command: Command) => then(run(stateAfter(happened), command, moment())),
})

export const stateAfter = (happened: readonly NewEvent[]): State =>
  happened.reduce((state, event) => evolve(state, stamped(event, state.seq + 1)), INITIAL_STATE)

const then = (result: RunResult) => ({
  then: (...events: readonly { readonly type: EventType; readonly payload?: object }[]): State => {
    expect(result.status).toBe('accepted')
    if (result.status !== 'accepted') throw new Error('refused')
    expect(result.events.map(({ type }) => type)).toEqual(events.map(({ type }) => type))
    for (const [index, { payload }] of events.entries()) {
      if (payload !== undefined) expect(result.events[index]?.payload).toMatchObject(payload)
    }
    return result.state
  },
  thenNothing: (): void => {
    expect(result).toMatchObject({ status: 'accepted', events: [] })
  },
  thenRefused: (code: RefusalCode, extras: object = {}): void => {
    expect(result).toMatchObject({ status: 'refused', refusal: { code, extras } })
  },
})

const moment = () => {
  let count = 0
  return { now: NOW, newId: () => `id-${(count += 1)}`, traceId: null }
}

const stamped = (event: NewEvent, seq: number): Stamped => ({
  seq,
  id: `given-${seq}`,
  type: event.type,
  ts: NOW,
  source: event.source,
  traceId: null,
  dedupeKey: null,
  payload: event.payload as unknown as JsonObject,
  recordedAt: NOW,
})
