import { CONTRIBUTOR_ID, TS } from './examples.ts'

const AUTHOR = {
  author: `contributor:${CONTRIBUTOR_ID}`,
  kind: 'contributor',
  id: CONTRIBUTOR_ID,
  name: 'Ann',
  edge: 0.12,
  edge_low: -0.02,
  edge_high: 0.26,
  edge_error: 0.07,
  evidence: 180,
  own: 0.05,
  influence: 1.4,
  newcomer: 0.05,
  trust: 1.45,
  karma: 56.2,
  score: 61.5,
  calls: 210,
  outcomes: 200,
  group: null,
} as const

const CALIBRATION = [{ from: 0.6, to: 0.7, calls: 40, stated: 0.65, hit_rate: 0.6 }]

const DAYS = [{ day: '2026-02-20', outcomes: 4, added: 1.2, total: 1.2 }]

export const CONTRIBUTION = {
  ...AUTHOR,
  moves_with: [
    {
      author: 'producer:p1',
      kind: 'producer',
      id: 'p1',
      name: 'p1',
      overlap: 0.2,
      speaks: 'before',
      same_group: false,
    },
  ],
  newest_calls: [
    {
      call_id: '019c7874-0f70-7c3e-9a51-2f6f0c1b7a10',
      at: TS,
      symbol: 'BTC',
      direction: 'bullish',
      horizon: '24h',
      return_pct: 0.012,
      band_pct: 0.008,
      hit: true,
      added: 0.98,
    },
  ],
  days: DAYS,
  calibration: CALIBRATION,
  as_of: TS,
} as const

export const PRODUCER_CONTRIBUTION = {
  ...CONTRIBUTION,
  author: 'producer:p1',
  kind: 'producer',
  id: 'p1',
  name: 'p1',
  score: null,
  moves_with: [],
} as const

export const AUTHORS = {
  total: 1,
  authors: [AUTHOR],
  groups: [
    {
      leader: { author: AUTHOR.author, kind: AUTHOR.kind, id: AUTHOR.id, name: AUTHOR.name },
      size: 2,
      influence: 1.4,
      members: [
        { author: 'producer:p1', kind: 'producer', id: 'p1', name: 'p1', overlap: 0.9, influence: 0 },
      ],
    },
  ],
  days: DAYS,
  calibration: CALIBRATION,
  as_of: TS,
} as const
