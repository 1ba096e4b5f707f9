import { timestampOf } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { given, NOW, stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent, NewPayload } from '../events/catalogue.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import { FEEDBACK_KEPT } from '../reputation/feedback.ts'

const record = {
  name: 'p1',
  domain: 'onchain',
  endpoint: 'https://example.com/x',
  schedule: '*/15 * * * *',
}
const registered: NewEvent = { type: 'producer.registered.v1', source: 'api', payload: record }
const removed: NewEvent = { type: 'producer.removed.v1', source: 'api', payload: { name: 'p1' } }

const ran = (said: Partial<NewPayload<'producer.run.v1'>>, ts = NOW): NewEvent => ({
  type: 'producer.run.v1',
  source: 'p1',
  ts,
  payload: {
    name: 'p1',
    health: 'ok',
    prev_health: 'unknown',
    events_published: 1,
    duration_ms: 100,
    error: null,
    consecutive_failures: 0,
    quarantined_until: null,
    rejected: [],
    ...said,
  },
})

const register = (name: string) =>
  ({ kind: 'register-producer', producer: { ...record, name }, surface: 'api' }) as const
const remove = (name: string) => ({ kind: 'remove-producer', name, surface: 'api' }) as const

describe('a producer', () => {
  it('registers under a name that is free', () => {
    const {
      signals: { producers },
    } = given().when(register('p1')).then({ type: 'producer.registered.v1', payload: record })
    expect(producers.registered.get('p1')).toEqual({ ...record, registeredAt: NOW })
    given(registered).when(register('p1')).thenRefused('producer.duplicate', { name: 'p1' })
    given(registered, removed).when(register('p1')).then({ type: 'producer.registered.v1' })
  })

  it('does not take the name of a built-in one', () => {
    for (const name of Object.keys(BUILTIN_PRODUCERS)) {
      given().when(register(name)).thenRefused('producer.duplicate', { name })
      given().when(remove(name)).thenRefused('producer.not_found', { name })
    }
    given().when(register('constructor')).then({ type: 'producer.registered.v1' })
  })

  it('is removed once', () => {
    given(registered)
      .when(remove('p1'))
      .then({ type: 'producer.removed.v1', payload: { name: 'p1' } })
    given(registered, removed).when(remove('p1')).thenRefused('producer.not_found', { name: 'p1' })
  })
})

describe('the runs of a producer', () => {
  const runAfter = (...events: readonly NewEvent[]) =>
    stateAfter([registered, ...events]).signals.producers.runs.get('p1')

  it('are absent before the first run and after removal', () => {
    expect(runAfter()).toBeUndefined()
    expect(runAfter(ran({}), removed)).toBeUndefined()
  })

  it('are summed up', () => {
    const later = timestampOf('2026-02-20T01:00:00.000Z')
    expect(runAfter(ran({ events_published: 3 }))).toEqual({
      health: 'ok',
      lastRunAt: NOW,
      lastSuccessAt: NOW,
      lastError: null,
      consecutiveFailures: 0,
      errorsInARow: 0,
      recentErrors: [],
      eventsProduced: 3,
      averageDurationMs: 100,
      quarantinedUntil: null,
    })
    const failed = { health: 'error', error: 'HTTP 500', consecutive_failures: 1 } as const
    expect(
      runAfter(
        ran({ events_published: 3 }),
        ran({ ...failed, events_published: 0, duration_ms: 200 }, later),
      ),
    ).toMatchObject({
      health: 'error',
      lastRunAt: later,
      lastSuccessAt: NOW,
      lastError: 'HTTP 500',
      consecutiveFailures: 1,
      eventsProduced: 3,
      averageDurationMs: 120,
    })
  })
})

describe('feedback', () => {
  const payload: NewPayload<'learning.feedback.v1'> = {
    producer_id: 'p1',
    signal_id: 's1',
    outcome: 'profit',
    pnl: null,
    note: null,
    matched: true,
    signal_type: 'signal.onchain.v1',
    score: 7,
    submitted_by: 'api',
  }
  const said = (changes: Partial<typeof payload> = {}): NewEvent => ({
    type: 'learning.feedback.v1',
    source: 'api',
    payload: { ...payload, ...changes },
  })
  const judgementsAfter = (...events: readonly NewEvent[]) =>
    (stateAfter(events).reputation.feedback.get('p1') ?? []).map(({ signalId, outcome }) => [
      signalId,
      outcome,
    ])

  const judge = (status: { isVoid: boolean; isRepeated: boolean }, changes: Partial<typeof payload> = {}) =>
    ({ kind: 'record-feedback', feedback: { ...payload, ...changes }, status }) as const
  const silent = { isVoid: true, isRepeated: false }

  it('is recorded as it is', () => {
    given()
      .when(judge({ isVoid: false, isRepeated: false }))
      .then({ type: 'learning.feedback.v1', payload: { ...payload, counted: false, weight: 0 } })
  })

  it('counts as weak evidence for void calls, once per signal and caller', () => {
    const evidence = { type: 'learning.feedback.v1', payload: { counted: true, weight: 0.25 } } as const
    const words = { type: 'learning.feedback.v1', payload: { counted: false, weight: 0 } } as const
    given().when(judge(silent)).then(evidence)
    given()
      .when(judge(silent, { outcome: 'loss' }))
      .then(evidence)
    for (const outcome of ['breakeven', 'no_fill', 'unknown', null] as const) {
      given().when(judge(silent, { outcome })).then(words)
    }
    given()
      .when(judge(silent, { matched: false }))
      .then(words)
    given()
      .when(judge({ isVoid: true, isRepeated: true }))
      .then(words)
    const counted = said({ counted: true, weight: 0.25 })
    given(counted).when(judge(silent)).then(words)
    given(counted, said({ outcome: 'loss', counted: false }))
      .when(judge(silent))
      .then(words)
    given(counted)
      .when(judge(silent, { submitted_by: 'another' }))
      .then(evidence)
    given(counted)
      .when(judge(silent, { signal_id: 's2' }))
      .then(evidence)
  })

  it('replaces earlier feedback on the same signal', () => {
    expect(judgementsAfter(said(), said({ signal_id: 's2' }), said({ outcome: 'loss' }))).toEqual([
      ['s2', 'profit'],
      ['s1', 'loss'],
    ])
  })

  it('has no effect without a signal of this producer or without an outcome', () => {
    expect(
      judgementsAfter(said({ matched: false }), said({ signal_id: null }), said({ outcome: null })),
    ).toEqual([])
  })

  it('is kept for a bounded number of signals', () => {
    const many = Array.from({ length: FEEDBACK_KEPT + 1 }, (_, index) => said({ signal_id: `s${index}` }))
    const kept = judgementsAfter(...many)
    expect([kept.length, kept[0]]).toEqual([FEEDBACK_KEPT, ['s1', 'profit']])
  })
})
