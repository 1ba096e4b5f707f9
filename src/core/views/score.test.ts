import { usdFrom } from '../shared/money.ts'
import { timestampOf, nodeId, contributorId } from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { INITIAL_CONTRIBUTORS, type Contributor, type Contributors } from '../signals/contributors.ts'
import { NO_RECORD, type TrackRecord } from '../signals/track-record.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { NEWCOMER } from '../reputation/contribution.ts'
import { INITIAL_OUTCOMES } from '../reputation/outcomes.ts'
import { authorKey } from '../shared/author-key.ts'
import { scoreView, viewLeaderboard, viewScore } from './reputation.ts'

const NOW = timestampOf('2026-02-20T00:00:00.000Z')
const scoring = {
  asOf: NOW,
  outcomes: INITIAL_OUTCOMES,
  contributions: new Map([
    [
      authorKey(contributorId('c'), 'node of c'),
      { ...NEWCOMER, own: 0.12, edge: { mean: 0.3, error: 0.18, evidence: 20, sure: 0.12 }, influence: 4 },
    ],
  ]),
  rules: DEFAULT_CONFIGURATION.karma,
}

const contributor = (id: string, record: Partial<TrackRecord>): Contributor => ({
  id: contributorId(id),
  nodeId: nodeId(`node of ${id}`),
  name: 'Ann',
  role: 'curator',
  registeredAt: NOW,
  metadata: {},
  publicKey: null,
  removed: false,
  record: { ...NO_RECORD, ...record },
})

const among = (...all: readonly Contributor[]): Contributors => ({
  ...INITIAL_CONTRIBUTORS,
  byId: PersistentMap(all.map((one) => [one.id, one])),
  idOfNode: PersistentMap(all.map((one) => [one.nodeId, one.id])),
})

const proven = {
  submitted: 40,
  accepted: 20,
  resolved: 16,
  profitable: 11,
  hitWeightSum: 12,
  weightSum: 16,
  brierSum: 0.18 * 16,
  convictionSum: 300,
  convictionCount: 40,
  accrued: usdFrom(1.25),
  streakDays: 9,
  lastActiveAt: timestampOf('2026-02-17T00:00:00.000Z'),
}

describe('a score as it is shown', () => {
  it('has all its members', () => {
    const shown = viewScore(contributor('c', proven), scoring)
    expect(shown).toMatchObject({
      contributor_id: 'c',
      node_id: 'node of c',
      signals_submitted: 40,
      signals_accepted: 20,
      signals_resolved: 16,
      signals_profitable: 11,
      hit_rate: 0.6875,
      acceptance_rate: 0.5,
      brier_score: 0.18,
      avg_conviction: 7.5,
      total_karma_usd: 1.25,
      streak: 9,
      last_active: '2026-02-17T00:00:00.000Z',
      as_of: NOW,
    })
    expect(shown.score).toBeCloseTo(50.080070595, 9)
    expect(shown.trust).toBe(5)
    expect(shown.inputs).toMatchObject({ own: 0.12, edge: 0.3, edge_error: 0.18, evidence: 17 / 27 })
    expect(scoreView.parse(shown)).toEqual(shown)
  })

  it('hides the hits and the streak of those who are hardly ever used', () => {
    const gated = contributor('c', { ...proven, submitted: 400, accepted: 20 })
    expect(viewScore(gated, scoring)).toMatchObject({
      score: 0,
      hit_rate: 0,
      streak: 0,
      signals_profitable: 11,
    })
  })
})

describe('the leaderboard', () => {
  it('is by score, then accepted, then submitted, then id', () => {
    const leaderboard = among(
      contributor('e', {}),
      contributor('d', {}),
      contributor('c', { submitted: 2 }),
      contributor('b', { submitted: 1, accepted: 1, resolved: 0 }),
      contributor('a', proven),
    )
    const ids = (limit: number) =>
      viewLeaderboard(leaderboard, scoring, limit).map((entry) => entry.contributor_id)
    expect(ids(20)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(ids(2)).toEqual(['a', 'b'])
  })
})
