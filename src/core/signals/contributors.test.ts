import { timestampOf, contributorId, nodeId } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { ContradictionError } from '../shared/assert.ts'
import { given, NOW, stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import type { JsonObject } from '../shared/json.ts'
import { decodeState, encodeState } from '../state-codec.ts'
import { activeById, activeByNode } from './contributors.ts'

const registered = (id: string, node: string, said: Partial<Registered> = {}): NewEvent => ({
  type: 'contributor.registered.v1',
  source: 'api',
  payload: { contributor_id: id, node_id: node, name: 'Ann', role: 'curator', metadata: {}, ...said },
})

interface Registered {
  readonly name: string
  readonly role: string
  readonly metadata: JsonObject
}

const removed = (id: string, node: string): NewEvent => ({
  type: 'contributor.removed.v1',
  source: 'api',
  payload: { contributor_id: id, node_id: node },
})

const attributed = (signalId: string, author: string | null, ts = NOW, score = 7): NewEvent => ({
  type: 'attribution.recorded.v1',
  source: 'api',
  ts,
  payload: {
    signal_id: signalId,
    contributor_id: author,
    node_id: author === null ? null : 'n1',
    producer_id: 'n1',
    received_at: ts,
    symbol: 'BTC',
    direction: 'bullish',
    score,
  },
})

const conviction = (inputs: Readonly<Record<string, number>>, ts = NOW): NewEvent =>
  ({
    type: 'brain.conviction.v1',
    source: 'brain',
    ts,
    payload: { inputs: Object.entries(inputs).map(([signal_id, share]) => ({ signal_id, share })) },
  }) as unknown as NewEvent

const cycle = (ts: string): NewEvent =>
  ({
    type: 'brain.cycle.v1',
    source: 'brain',
    ts,
    payload: { started_at: ts, signals_used: {} },
  }) as unknown as NewEvent

const registration = { nodeId: nodeId('n1'), name: 'Ann', role: 'curator', metadata: { a: 1 } }
const register = { kind: 'register-contributor', registration, surface: 'api' } as const

describe('a contributor', () => {
  it.each([1, -1])('may state the largest scores there are, and memory can still be written down', (sign) => {
    const scores = [1, 2, 3].map((signal) => attributed(`s${signal}`, 'c1', NOW, sign * Number.MAX_VALUE))
    const state = stateAfter([registered('c1', 'n1'), ...scores, attributed('s4', 'c1')])
    expect(decodeState(encodeState(state)).signals).toStrictEqual(state.signals)
    expect(activeById(state.signals.contributors, contributorId('c1'))?.record.submitted).toBe(4)
  })

  it('registers and is found by its id and its node', () => {
    const {
      signals: { contributors },
    } = given()
      .when(register)
      .then({
        type: 'contributor.registered.v1',
        payload: { contributor_id: 'id-1', node_id: 'n1', name: 'Ann', role: 'curator', metadata: { a: 1 } },
      })
    expect(activeById(contributors, contributorId('id-1'))).toMatchObject({ nodeId: 'n1', registeredAt: NOW })
    expect(activeByNode(contributors, nodeId('n1'))?.id).toBe('id-1')
    expect(activeById(contributors, contributorId('n1'))).toBeNull()
  })

  it('registers once per node', () => {
    given(registered('c1', 'n1')).when(register).thenRefused('contributor.duplicate', { node_id: 'n1' })
  })

  it('may register again as a new contributor after removal', () => {
    const {
      signals: { contributors },
    } = given(registered('c1', 'n1'), removed('c1', 'n1'))
      .when(register)
      .then({ type: 'contributor.registered.v1', payload: { contributor_id: 'id-1' } })
    expect(activeByNode(contributors, nodeId('n1'))?.id).toBe('id-1')
    expect(contributors.byId.get(contributorId('c1'))).toMatchObject({ removed: true, name: 'Ann' })
  })

  it('is removed once, by its id', () => {
    const remove = (id: string) =>
      ({ kind: 'remove-contributor', id: contributorId(id), surface: 'api' }) as const
    given(registered('c1', 'n1'))
      .when(remove('c1'))
      .then({ type: 'contributor.removed.v1', payload: { contributor_id: 'c1', node_id: 'n1' } })
    given(registered('c1', 'n1')).when(remove('n1')).thenRefused('contributor.not_found', { id: 'n1' })
    given(registered('c1', 'n1'), removed('c1', 'n1'))
      .when(remove('c1'))
      .thenRefused('contributor.not_found', { id: 'c1' })
  })
})

describe('the writing node', () => {
  const node = { nodeId: nodeId('svc-2'), publicKey: 'ab', ephemeral: true }
  const ephemeral = registered('c1', 'svc-1', {
    name: 'local-operator',
    role: 'operator',
    metadata: { ephemeral: true },
  })

  it('becomes a contributor, and ephemeral nodes of earlier processes are removed', () => {
    given(ephemeral)
      .when({ kind: 'welcome-node', node })
      .then(
        { type: 'contributor.removed.v1', payload: { contributor_id: 'c1' } },
        {
          type: 'contributor.registered.v1',
          payload: {
            node_id: 'svc-2',
            name: 'local-operator',
            role: 'operator',
            metadata: { public_key: 'ab', ephemeral: true },
          },
        },
      )
  })

  it('is registered once', () => {
    given(ephemeral)
      .when({ kind: 'welcome-node', node: { ...node, nodeId: nodeId('svc-1') } })
      .thenNothing()
  })

  it('does not remove other contributors with ephemeral metadata', () => {
    given(registered('c1', 'n1', { metadata: { ephemeral: true } }))
      .when({ kind: 'welcome-node', node })
      .then({ type: 'contributor.registered.v1' })
  })
})

describe('the track record of a contributor', () => {
  const recordAfter = (...events: readonly NewEvent[]) =>
    stateAfter([registered('c1', 'n1'), ...events]).signals.contributors.byId.get(contributorId('c1'))?.record

  it('counts submissions and convictions', () => {
    expect(recordAfter(attributed('s1', 'c1'), attributed('s2', 'c1'), attributed('s3', null))).toMatchObject(
      {
        submitted: 2,
        accepted: 0,
        convictionSum: 14,
        convictionCount: 2,
        lastActiveAt: NOW,
      },
    )
  })

  it('counts a signal as accepted when a cycle first uses it, and only once', () => {
    const record = recordAfter(
      attributed('s1', 'c1'),
      attributed('s2', 'c1'),
      conviction({ s1: 0, s9: 1 }),
      conviction({ s1: 0.4 }),
      conviction({ s1: 0.4 }),
    )
    expect(record).toMatchObject({ submitted: 2, accepted: 1, streakDays: 1, streakDay: '2026-02-20' })
  })

  it('counts consecutive days as a streak', () => {
    const days = ['2026-02-18', '2026-02-19', '2026-02-19', '2026-02-20', '2026-02-22']
    const events = days.flatMap((day, index) => [
      attributed(`s${index}`, 'c1', timestampOf(`${day}T10:00:00.000Z`)),
      conviction({ [`s${index}`]: 1 }, timestampOf(`${day}T11:00:00.000Z`)),
    ])
    expect(recordAfter(...events.slice(0, 8))).toMatchObject({ accepted: 4, streakDays: 3 })
    expect(recordAfter(...events)).toMatchObject({ accepted: 5, streakDays: 1, streakDay: '2026-02-22' })
  })

  it('goes on after the contributor was removed', () => {
    expect(recordAfter(attributed('s1', 'c1'), removed('c1', 'n1'), conviction({ s1: 1 }))).toMatchObject({
      accepted: 1,
    })
  })

  it('is not changed by a damaged event', () => {
    const left = (type: string): NewEvent => ({ type, source: 'x', payload: {} }) as unknown as NewEvent
    const damaged = ['attribution.recorded.v1', 'brain.conviction.v1'].map(left)
    expect(recordAfter(attributed('s1', 'c1'), ...damaged)).toMatchObject({ submitted: 1, accepted: 0 })
    // A replay ignores such an event.
    expect(() => recordAfter(left('contributor.removed.v1'))).toThrow(ContradictionError)
  })

  it('forgets unused signals that are too old to be used', () => {
    const events = [registered('c1', 'n1'), attributed('s1', 'c1', timestampOf('2026-02-16T00:00:00.000Z'))]
    expect(stateAfter([...events, cycle('2026-02-20T00:00:00.000Z')]).signals.contributors.unused.size).toBe(
      1,
    )
    expect(stateAfter([...events, cycle('2026-02-20T00:00:00.001Z')]).signals.contributors.unused.size).toBe(
      0,
    )
  })
})
