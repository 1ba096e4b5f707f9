import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import { DAY_MS } from '../shared/time.ts'
import { INITIAL_CALLS } from './calls.ts'
import { NO_EDGE } from './edge.ts'
import { AUTHORS_MAX, evolveOutcomes, INITIAL_OUTCOMES, type Outcomes } from './outcomes.ts'

const dayAt = (index: number): string => new Date(Date.UTC(2026, 0, 1 + index, 12)).toISOString()

const event = (type: string, ts: string, payload: object): KnownEvent =>
  ({ type, ts, payload }) as unknown as KnownEvent

const hit = (producerId: string, day: number): KnownEvent =>
  event('attribution.measured.v1', dayAt(day), {
    contributor_id: null,
    producer_id: producerId,
    direction: 'bullish',
    return_pct: 0.01,
    band_pct: 0.0022,
    horizon: '24h',
    hit: true,
    base_rate: 0.4,
  } satisfies Partial<PayloadOf<'attribution.measured.v1'>>)

const cycle = (day: number): KnownEvent => event('brain.cycle.v1', dayAt(day), {})

const after = (before: Outcomes, ...events: readonly KnownEvent[]): Outcomes =>
  events.reduce((outcomes, one) => evolveOutcomes(outcomes, one, INITIAL_CALLS), before)

const [ann, bob] = [authorKey(null, 'ann'), authorKey(null, 'bob')]

describe('what is remembered of outcomes', () => {
  it('covers the days of the window, however seldom an author signals', () => {
    const { byAuthor } = after(INITIAL_OUTCOMES, hit('ann', 0), hit('ann', 80), hit('ann', 120))
    const days = byAuthor.get(ann)?.filter((_value, index) => index % 9 === 0)
    expect(days).toEqual([80, 120].map((day) => Math.floor(Date.parse(dayAt(day)) / DAY_MS)))
  })

  it('drops the days of authors that have been inactive for longer than the window', () => {
    const spoken = after(INITIAL_OUTCOMES, hit('ann', 0), hit('bob', 30))
    expect([...after(spoken, cycle(89)).byAuthor.keys()].toSorted()).toEqual([ann, bob])
    const later = after(spoken, cycle(90))
    expect([...later.byAuthor.keys()]).toEqual([bob])
    // The edge includes the latest outcomes, however old they are.
    expect([...later.edges.keys()].toSorted()).toEqual([ann, bob])
  })

  it('is tidied once a day', () => {
    const today = after(INITIAL_OUTCOMES, hit('ann', 0), cycle(100))
    expect(after(today, cycle(100))).toBe(today)
  })

  it('is tidied again after a clock that was years ahead', () => {
    const ahead = after(INITIAL_OUTCOMES, cycle(3650), hit('ann', 0))
    expect([...after(ahead, cycle(1)).byAuthor.keys()]).toEqual([ann])
    expect([...after(ahead, cycle(1), cycle(90)).byAuthor.keys()]).toEqual([])
  })
})

describe('as many authors as are kept', () => {
  const crowd = PersistentMap(Array.from({ length: AUTHORS_MAX - 1 }, (_, index) => [`a${index}`, NO_EDGE]))
  const full = after({ ...INITIAL_OUTCOMES, edges: crowd }, hit('ann', 0))

  it('leave no room for another', () => {
    expect(full.edges.size).toBe(AUTHORS_MAX)
    expect(after(full, hit('bob', 0))).toBe(full)
    expect(after(full, hit('ann', 0)).byAuthor.get(ann)?.[5]).toBe(2)
  })

  it('make room when they are silent', () => {
    const next = after(full, cycle(1), hit('bob', 1))
    expect([...next.edges.keys()].toSorted()).toEqual([ann, bob])
  })
})
