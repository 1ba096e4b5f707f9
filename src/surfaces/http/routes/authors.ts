import { z } from 'zod'
import { contributorId } from '../../../core/shared/brand.ts'
import { activeById } from '../../../core/signals/contributors.ts'
import { authorsView } from '../../../core/views/authors.ts'
import { contributionView, type ContributionContext } from '../../../core/views/contribution.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { authorsOf, contributionOf } from '../../../engine/queries/authors.ts'
import { isKnownProducer } from '../../../engine/queries/feedback.ts'
import { CONTRIBUTOR_ID, TS } from '../examples.ts'
import { integer, pathText } from '../fields.ts'
import { ok, refused } from '../results.ts'
import { route, routes, type Service } from '../route.ts'

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
  borrowed: 0,
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

const CONTRIBUTION = {
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

const PRODUCER_CONTRIBUTION = {
  ...CONTRIBUTION,
  author: 'producer:p1',
  kind: 'producer',
  id: 'p1',
  name: 'p1',
  score: null,
  moves_with: [],
} as const

const AUTHORS = {
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

const contribution = contributionView.meta({ id: 'Contribution' })

const explanation =
  'Its edge with the interval, what of it is its own, its weight now, with whom it moves together, its newest calls and what each added, day by day, and whether its stated probabilities hold.'

export const authorRoutes = routes('Authors', {
  listAuthors: route('GET', '/authors', 'read', {
    summary: 'How good all authors are, and who moves together',
    description: 'Contributors and producers who made a call, by influence and then by edge.',
    query: z.object({ limit: integer(100, { min: 1, max: 200 }, 'how many authors') }),
    response: authorsView.meta({ id: 'Authors' }),
    example: AUTHORS,
    handler: async ({ query: { limit } }, service) => {
      const { log } = service.engine
      return ok(await authorsOf(log, await service.engine.fresh(), limit, contextOf(service)))
    },
  }),
  getContributorContribution: route('GET', '/contributors/:id/contribution', 'read', {
    summary: 'What the calls of a contributor add',
    description: explanation,
    params: z.object({ id: pathText('the id of the contributor, not its node_id', CONTRIBUTOR_ID) }),
    response: contribution,
    example: CONTRIBUTION,
    problems: ['contributor.not_found'],
    handler: async ({ params: { id } }, service) => {
      const { log } = service.engine
      const state = await service.engine.fresh()
      const found = activeById(state.signals.contributors, contributorId(id))
      if (found === null) {
        return refused('contributor.not_found', 'No contributor has this id', { extras: { id } })
      }
      return ok(await contributionOf(log, state, { kind: 'contributor', id: found.id }, contextOf(service)))
    },
  }),
  getProducerContribution: route('GET', '/producers/:name/contribution', 'read', {
    summary: 'What the calls of a producer add',
    description: explanation,
    params: z.object({ name: pathText('the name of the producer, or a source of signals', 'p1') }),
    response: contribution,
    example: PRODUCER_CONTRIBUTION,
    problems: ['producer.not_found'],
    handler: async ({ params: { name } }, service) => {
      const { log } = service.engine
      const state = await service.engine.fresh()
      if (!(await isKnownProducer(log, state, name))) {
        return refused('producer.not_found', 'No such producer', { extras: { name } })
      }
      return ok(await contributionOf(log, state, { kind: 'producer', name }, contextOf(service)))
    },
  }),
})

const contextOf = ({ clock, configuration }: Service): ContributionContext => ({
  now: isoNow(clock),
  rules: configuration.current().karma,
})
