import { type Timestamp, timestampOf } from '../shared/brand.ts'
import { describe, expect, it } from 'vitest'
import { NOW, stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { dayNumber, timestampAt } from '../shared/time.ts'
import { CONTRIBUTORS_KEPT, DAYS_KEPT, signalsWithin, trailOf, TYPES_KEPT } from './trails.ts'

const signal = (type: `signal.${string}`, source: string, ts = NOW): NewEvent => ({
  type,
  source,
  ts,
  payload: { symbol: 'BTC' },
})
const attributed = (nodeId: string | null, contributorId: string | null, ts = NOW): NewEvent => ({
  type: 'attribution.recorded.v1',
  source: 'x',
  ts,
  payload: {
    signal_id: 's',
    contributor_id: contributorId,
    node_id: nodeId,
    producer_id: nodeId ?? 'p1',
    received_at: ts,
    symbol: null,
    direction: null,
    score: null,
  },
})
const submitted = (nodeId: string, contributorId: string, ts = NOW) => [
  signal('signal.curator.v1', 'somebody-else', ts),
  attributed(nodeId, contributorId, ts),
]
const trailAfter = (name: string, ...events: readonly NewEvent[]) =>
  trailOf(stateAfter(events).signals.trails, name)

const dayAt = (index: number): Timestamp => timestampAt(Date.UTC(2026, 0, 1 + index, 12))

describe('a trail', () => {
  it('of a contributor follows attribution, whatever the source says', () => {
    const events = submitted('n1', 'c1')
    expect(trailAfter('n1', ...events)).toEqual({
      signals: 1,
      contributorIds: ['c1'],
      firstSeen: NOW,
      lastSeen: NOW,
      days: [dayNumber(timestampOf('2026-02-20')), 1],
      types: [],
    })
    expect(trailAfter('somebody-else', ...events)).toBeNull()
  })

  it('of a producer follows the source of its signals', () => {
    const events = [signal('signal.ta.v1', 'p1'), attributed(null, null), signal('signal.ta.v1', 'p1')]
    expect(trailAfter('p1', ...events)).toMatchObject({
      signals: 2,
      contributorIds: [],
      types: ['signal.ta.v1'],
    })
  })

  it('is not made by what is left of a damaged event', () => {
    const damaged = { ...attributed('n1', 'c1'), payload: {} } as unknown as NewEvent
    expect(stateAfter([damaged]).signals.trails.byNode.size).toBe(0)
  })

  it('of a contributor is not mixed with that of a producer of the same name', () => {
    const events = [signal('signal.ta.v1', 'n1'), signal('signal.ta.v1', 'n1')]
    expect(trailAfter('n1', ...events)?.signals).toBe(2)
    expect(trailAfter('n1', ...events, ...submitted('n1', 'c1'))).toMatchObject({
      signals: 1,
      contributorIds: ['c1'],
    })
  })

  it('counts everybody who stood behind it, up to a limit', () => {
    const ids = Array.from({ length: CONTRIBUTORS_KEPT + 1 }, (_, index) => `c${index}`)
    const trail = trailAfter('n1', ...ids.flatMap((id) => submitted('n1', id)))
    expect([trail?.contributorIds.length, trail?.contributorIds[0]]).toEqual([CONTRIBUTORS_KEPT, 'c1'])
  })

  it('remembers types up to a limit', () => {
    const types = Array.from({ length: TYPES_KEPT + 1 }, (_, index) => `signal.kind_${index}.v1` as const)
    const trail = trailAfter('p1', ...types.map((type) => signal(type, 'p1')))
    expect(trail?.types).toEqual(types.slice(1))
  })

  it('counts days, the newest ones', () => {
    const count = DAYS_KEPT + 9
    const events = Array.from({ length: count }, (_, index) => signal('signal.ta.v1', 'p1', dayAt(index)))
    const trail = trailAfter('p1', ...events)
    if (trail === null) throw new Error('no trail')
    expect(trail.signals).toBe(count)
    expect(trail.days).toHaveLength(2 * DAYS_KEPT)
    expect(trail).toMatchObject({ firstSeen: dayAt(0), lastSeen: dayAt(count - 1) })
    expect([7, 30, 90].map((days) => signalsWithin(trail, dayAt(count - 1), days))).toEqual([7, 30, 90])
    expect(signalsWithin(trail, dayAt(count + 6), 7)).toBe(0)
  })
})
