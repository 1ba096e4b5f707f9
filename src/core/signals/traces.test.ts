import { timestampOf, sessionId } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { given, NOW, stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { SESSIONS_PER_OWNER_MAX, SESSIONS_PER_TRACE_MAX, sessionStatusOf, TRACE_IDS_MAX } from './traces.ts'

const opened = (id: string, ts = NOW): NewEvent => ({
  type: 'trace.session_opened.v1',
  source: 'api',
  ts,
  payload: { session_id: id, label: '', agent: null },
})
const appended = (id: string, traceId: string): NewEvent => ({
  type: 'trace.session_appended.v1',
  source: 'api',
  payload: { session_id: id, trace_id: traceId },
})
const closed = (id: string): NewEvent => ({
  type: 'trace.session_closed.v1',
  source: 'api',
  payload: { session_id: id },
})
const signal = (traceId: string, ts: string): NewEvent => ({
  type: 'signal.ta.v1',
  source: 'p1',
  traceId,
  ts: timestampOf(ts),
  payload: { symbol: 'BTC' },
})
const append = (id: string, traceId: string) =>
  ({ kind: 'append-trace', sessionId: sessionId(id), traceId, by: BY }) as const

const BY = { owner: 'token', isOperator: false }
const KEY = { owner: 'key:k1:0123456789abcdef', isOperator: false }

const YESTERDAY = timestampOf('2026-02-19T00:30:00.000Z')
const LATER = timestampOf('2026-02-20T05:00:00.000Z')

describe('a trace session', () => {
  it('opens with its own id as first trace id', () => {
    const {
      signals: { traces },
    } = given()
      .when({ kind: 'open-session', label: 'x', agent: 'a', owner: 'token' })
      .then({
        type: 'trace.session_opened.v1',
        payload: { session_id: 'id-1', label: 'x', agent: 'a', owner: 'token' },
      })
    expect(traces.sessions.get(sessionId('id-1'))).toEqual({
      id: 'id-1',
      label: 'x',
      agent: 'a',
      owner: 'token',
      createdAt: NOW,
      lastAccessedAt: NOW,
      closedAt: null,
      traceIds: ['id-1'],
    })
  })

  it('accepts further trace ids, each once', () => {
    given(opened('s'))
      .when(append('s', 't1'))
      .then({ type: 'trace.session_appended.v1', payload: { session_id: 's', trace_id: 't1' } })
    given(opened('s'), appended('s', 't1')).when(append('s', 't1')).thenNothing()
    given(opened('s')).when(append('s', 's')).thenNothing()
    given().when(append('s', 't1')).thenRefused('trace.session_not_found', { session_id: 's' })
  })

  it('holds a bounded number of trace ids', () => {
    const full = Array.from({ length: TRACE_IDS_MAX - 1 }, (_, index) => appended('s', `t${index}`))
    given(opened('s'), ...full)
      .when(append('s', 'one more'))
      .thenRefused('trace.session_full', { session_id: 's' })
  })

  it('replaces the oldest one of its owner beyond the limit, and none of other owners', () => {
    const ofKey: NewEvent = {
      type: 'trace.session_opened.v1',
      source: 'api',
      payload: { session_id: 'other', label: '', agent: null, owner: 'key:k1' },
    }
    const many = Array.from({ length: SESSIONS_PER_OWNER_MAX + 2 }, (_, index) => opened(`s${index}`))
    const state = stateAfter([ofKey, ...many, appended('s0', 't'), closed('s1')])
    const { sessions, sessionsOfTrace, sessionsOfOwner } = state.signals.traces
    expect(sessions.size).toBe(SESSIONS_PER_OWNER_MAX + 1)
    expect(sessionsOfOwner.get('token')).toHaveLength(SESSIONS_PER_OWNER_MAX)
    for (const gone of ['s0', 's1']) {
      expect(sessions.has(sessionId(gone))).toBe(false)
      expect(sessionsOfTrace.has(gone)).toBe(false)
    }
    for (const kept of ['s2', 'other']) expect(sessions.get(sessionId(kept))?.traceIds).toEqual([kept])
    given(ofKey, ...many)
      .when(append('s0', 't'))
      .thenRefused('trace.session_not_found', { session_id: 's0' })
  })

  it('closes once', () => {
    const close = { kind: 'close-session', sessionId: sessionId('s'), by: BY } as const
    const {
      signals: { traces },
    } = given(opened('s')).when(close).then({ type: 'trace.session_closed.v1' })
    expect(traces.sessions.get(sessionId('s'))?.closedAt).toBe(NOW)
    expect(traces.sessionsOfTrace.size).toBe(0)
    given(opened('s'), closed('s')).when(close).thenNothing()
    given().when(close).thenRefused('trace.session_not_found', { session_id: 's' })
  })

  it('is changed by its owner and by operators alone; of an earlier release, by the token', () => {
    const close = { kind: 'close-session', sessionId: sessionId('s') } as const
    const { type, payload, ...rest } = opened('s')
    const ofKey = { ...rest, type, payload: { ...payload, owner: KEY.owner } } as NewEvent
    given(opened('s'))
      .when({ ...close, by: KEY })
      .thenRefused('auth.not_owner', { session_id: 's' })
    given(opened('s'))
      .when({ ...append('s', 't1'), by: KEY })
      .thenRefused('auth.not_owner', { session_id: 's' })
    given(ofKey)
      .when({ ...close, by: BY })
      .thenRefused('auth.not_owner', { session_id: 's' })
    given(ofKey)
      .when({ ...close, by: KEY })
      .then({ type: 'trace.session_closed.v1' })
    given(ofKey)
      .when({ ...close, by: { ...BY, isOperator: true } })
      .then({ type: 'trace.session_closed.v1' })
  })

  it('accepts no trace id after it was closed or expired', () => {
    given(opened('s'), closed('s'))
      .when(append('s', 't1'))
      .thenRefused('trace.session_closed', { session_id: 's', session_status: 'closed' })
    given(opened('s', timestampOf('2026-02-19T00:29:59.999Z')))
      .when(append('s', 't1'))
      .thenRefused('trace.session_closed', { session_id: 's', session_status: 'expired' })
    given(opened('s', YESTERDAY)).when(append('s', 't1')).then({ type: 'trace.session_appended.v1' })
  })

  it('is accessed by every event that carries one of its trace ids', () => {
    const {
      signals: { traces },
    } = stateAfter([
      opened('a', YESTERDAY),
      opened('b', YESTERDAY),
      opened('c', YESTERDAY),
      appended('b', 'shared'),
      appended('c', 'shared'),
      closed('c'),
      signal('a', LATER),
      signal('shared', LATER),
      signal('other', '2026-02-20T09:00:00.000Z'),
    ])
    expect(['a', 'b', 'c'].map((id) => traces.sessions.get(sessionId(id))?.lastAccessedAt)).toEqual([
      LATER,
      LATER,
      NOW,
    ])
  })

  it('is not forgotten by its own trace id when another session takes it', () => {
    const {
      signals: { traces },
    } = stateAfter([
      opened('a', YESTERDAY),
      opened('b', YESTERDAY),
      appended('b', 'a'),
      closed('b'),
      signal('a', LATER),
    ])
    expect(traces.sessions.get(sessionId('a'))?.lastAccessedAt).toBe(LATER)
  })

  it('shares a trace id with a bounded number of sessions', () => {
    const ids = Array.from({ length: SESSIONS_PER_TRACE_MAX + 5 }, (_, index) => `s${index}`)
    const {
      signals: { traces },
    } = stateAfter([
      ...ids.map((id) => opened(id, YESTERDAY)),
      ...ids.map((id) => appended(id, 'shared')),
      signal('shared', LATER),
    ])
    const reached = ids.filter((id) => traces.sessions.get(sessionId(id))?.lastAccessedAt === LATER)
    expect(reached).toEqual(ids.slice(5))
  })

  it('is open, expired or closed', () => {
    const session = stateAfter([opened('s')]).signals.traces.sessions.get(sessionId('s'))
    if (session === undefined) throw new Error('no session')
    expect(sessionStatusOf(session, timestampOf('2026-02-20T01:30:00.000Z'), 1)).toBe('open')
    expect(sessionStatusOf(session, timestampOf('2026-02-20T01:30:00.001Z'), 1)).toBe('expired')
    expect(sessionStatusOf({ ...session, closedAt: NOW }, timestampOf('2026-03-01T00:00:00.000Z'), 1)).toBe(
      'closed',
    )
  })
})
