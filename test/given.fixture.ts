import { timestampOf, nodeId, type Timestamp } from '../src/core/shared/brand.ts'
import { expect } from 'vitest'
import type { Command } from '../src/core/decide.ts'
import { DEFAULT_CONFIGURATION } from '../src/core/config/validate.ts'
import type { EventType, NewEvent, SignalType } from '../src/core/events/catalogue.ts'
import { canonicalJson } from '../src/core/log/canonical-json.ts'
import type { Stamped } from '../src/core/log/event.ts'
import type { DecisionContext } from '../src/core/shared/decision-context.ts'
import { run, type RunResult } from '../src/core/run.ts'
import { sha256Hex } from '../src/engine/sha256.ts'
import { evolve, INITIAL_STATE, type State } from '../src/core/state.ts'
import type { RefusalCode } from '../src/core/shared/decision.ts'
import type { JsonObject } from '../src/core/shared/json.ts'

export const NOW = timestampOf('2026-02-20T00:30:00.000Z')

/** Tests are written as events: given these events, when this command runs, then those events follow. */
export const given = (...happened: readonly NewEvent[]) => ({
  when: (command: Command, context: DecisionContext = testContext()) =>
    then(run(stateAfter(happened), command, context)),
})

export const stateAfter = (happened: readonly NewEvent[]): State =>
  happened.reduce((state, event) => evolve(state, stamped(event, state)), INITIAL_STATE)

const then = (result: RunResult) => ({
  then: (
    ...events: readonly { readonly type: EventType | SignalType; readonly payload?: object }[]
  ): State => {
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

/** A run of a built-in producer that returns one signal: they emit only from inside the process. */
export const builtInRun = (
  name: string,
  type: string,
  payload: JsonObject,
  { ts = NOW }: { readonly ts?: Timestamp } = {},
): Command => ({
  kind: 'run-producer',
  report: {
    name,
    end: 'usable',
    rows: [{ type, payload, ts, dedupeKey: `${name}:${type}:${ts}:${canonicalJson(payload)}` }],
    rejected: [],
    error: null,
    durationMs: 0,
  },
})

/** A context with the same time in every test unless the test changes it. Ids count up. */
export const testContext = (changes: Partial<DecisionContext> = {}): DecisionContext => {
  let count = 0
  return {
    now: NOW,
    newId: () => `id-${(count += 1)}`,
    traceId: null,
    configuration: DEFAULT_CONFIGURATION,
    version: '0',
    sha256Hex,
    nodeId: nodeId('svc-test'),
    sign: (text) => `signed ${sha256Hex(text)}`,
    isSigned: () => false,
    elapsedMs: () => 0,
    ...changes,
  }
}

/** The event as stored. Members that the test leaves out have the same values in all tests. */
const stamped = (event: NewEvent, { seq, recordedAt }: State): Stamped => ({
  seq: seq + 1,
  id: event.id ?? `given-${seq + 1}`,
  type: event.type,
  ts: event.ts ?? NOW,
  source: event.source,
  traceId: event.traceId ?? null,
  dedupeKey: event.dedupeKey ?? null,
  payload: event.payload as unknown as JsonObject,
  recordedAt: receivedAt(event, recordedAt),
})

/** A signal may be older than its receipt. The receipt is never earlier than that of the previous event. */
const receivedAt = ({ type, ts = NOW }: NewEvent, before: Timestamp): Timestamp =>
  type.startsWith('signal.') && ts < before ? before : ts
