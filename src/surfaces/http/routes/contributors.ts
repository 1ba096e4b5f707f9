import { contributorId, nodeId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { activeById, contributorRegistration } from '../../../core/signals/contributors.ts'
import {
  attestationView,
  attestedView,
  contributorView,
  viewAttestation,
  viewAttested,
  viewContributor,
  viewContributors,
  viewRegistered,
} from '../../../core/views/contributors.ts'
import { scoreView, scoringIn, viewLeaderboard, viewScore } from '../../../core/views/reputation.ts'
import type { State } from '../../../core/state.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import type { Viewpoint } from '../../../engine/queries/viewpoint.ts'
import { isProvenOperator } from '../../caller.ts'
import { aboutPast, asOfMember } from '../as-of.ts'
import { CONTRIBUTOR_ID, TS } from '../examples.ts'
import { ok, okOr } from '../results.ts'
import { integer, pathText } from '../fields.ts'
import { route, routes } from '../route.ts'

const CONTRIBUTOR = {
  id: CONTRIBUTOR_ID,
  node_id: 'n1',
  name: 'Ann',
  role: 'curator',
  registered_at: TS,
  metadata: {},
} as const

const factor = (value: number, weight: number) => ({ value, weight, contribution: value * weight * 100 })

const SCORE = {
  contributor_id: CONTRIBUTOR_ID,
  node_id: 'n1',
  name: 'Ann',
  signals_submitted: 1,
  signals_accepted: 0,
  signals_profitable: 0,
  signals_resolved: 0,
  hit_rate: 0,
  acceptance_rate: 0,
  brier_score: 0.25,
  avg_conviction: 7.5,
  total_karma_usd: 0,
  score: 10,
  last_active: TS,
  streak: 0,
  factors: {
    hit_rate: factor(0, 0.35),
    calibration: factor(0, 0.2),
    volume: factor(0, 0.2),
    consistency: factor(0, 0.15),
    recency: factor(1, 0.1),
  },
  inputs: {
    weighted_hits: 0,
    weights: 0,
    brier_sum: 0,
    evidence: 0.090909091,
    own: 0,
    edge: 0,
    edge_error: 1,
    days_since_active: 0,
    gated: false,
  },
  karma: 50,
  trust: 1,
  as_of: TS,
}

const contributor = contributorView.meta({ id: 'Contributor' })
const score = scoreView.extend(asOfMember).meta({ id: 'ContributorScore' })
const params = z.object({ id: pathText('the id of the contributor, not its node_id', CONTRIBUTOR_ID) })

interface ById {
  readonly params: z.output<typeof params>
}

export const contributorRoutes = routes('Contributors', {
  listContributors: route('GET', '/contributors', 'read', {
    summary: 'Contributors, oldest first',
    response: z.array(contributor),
    example: [CONTRIBUTOR],
    handler: async (_input, { engine }) => ok(viewContributors((await engine.fresh()).signals.contributors)),
  }),
  registerContributor: route('POST', '/contributors/register', 'submit', {
    summary: 'Register a contributor',
    body: contributorRegistration.meta({
      examples: [{ node_id: 'n1', name: 'Ann', role: 'curator', metadata: {} }],
    }),
    description:
      'With a `public_key`, submissions of this contributor must be signed with it, whatever token they come with. ' +
      'A node_id that had a key registers again only with the same one, or with a new one by an operator.',
    response: contributor,
    example: CONTRIBUTOR,
    problems: ['contributor.duplicate', 'contributor.key_protected'],
    handler: ({ body: { node_id, name, role, metadata, public_key: publicKey }, caller, execute }) => {
      const registration = { nodeId: nodeId(node_id), name, role, metadata, publicKey }
      const isOperator = isProvenOperator(caller)
      return execute(
        { kind: 'register-contributor', registration, surface: 'api', isOperator },
        viewRegistered,
      )
    },
  }),
  getLeaderboard: route('GET', '/contributors/leaderboard', 'read', {
    summary: 'Contributors by score, best first',
    response: z.array(score),
    example: [SCORE],
    ...aboutPast({
      query: { limit: integer(20, { min: 1, max: 200 }, 'how many') },
      answer: async (viewpoint, { query: { limit } }) => {
        const { signals, reputation } = await viewpoint.reader.fresh()
        return ok(viewLeaderboard(signals.contributors, scoringOf(reputation, viewpoint), limit))
      },
    }),
  }),
  listAttestations: route('GET', '/contributors/attestations', 'read', {
    summary: 'Contributors with an attestation UID in their metadata',
    response: z.array(attestedView),
    example: [{ contributor_id: CONTRIBUTOR_ID, node_id: 'n1', uid: '0x1' }],
    handler: async (_input, { engine }) => ok(viewAttested((await engine.fresh()).signals.contributors)),
  }),
  getContributor: route('GET', '/contributors/:id', 'read', {
    summary: 'One contributor',
    params,
    response: contributor,
    example: CONTRIBUTOR,
    problems: ['contributor.not_found'],
    handler: async ({ params: { id } }, { engine }) => {
      const found = activeById((await engine.fresh()).signals.contributors, contributorId(id))
      return foundOr(found && viewContributor(found), id)
    },
  }),
  removeContributor: route('DELETE', '/contributors/:id', 'submit', {
    summary: 'Remove a contributor',
    description:
      'Its history stays, access keys that are bound to it end. The node_id may register again, as a new contributor. One ' +
      'with a public key is removed only with the operator token, or by `svc contributors remove`.',
    params,
    response: z.object({ removed: z.string() }),
    example: { removed: CONTRIBUTOR_ID },
    problems: ['contributor.not_found', 'contributor.key_protected'],
    handler: ({ params: { id }, caller, execute }) =>
      execute(
        {
          kind: 'remove-contributor',
          id: contributorId(id),
          surface: 'api',
          isOperator: isProvenOperator(caller),
        },
        () => ({ removed: id }),
      ),
  }),
  getContributorScore: route('GET', '/contributors/:id/score', 'read', {
    summary: 'Score of a contributor, with its factors',
    params,
    response: score,
    example: SCORE,
    ...aboutPast({
      problems: ['contributor.not_found'],
      answer: async (viewpoint, { params: { id } }: ById) => {
        const { signals, reputation } = await viewpoint.reader.fresh()
        const found = activeById(signals.contributors, contributorId(id))
        return foundOr(found && viewScore(found, scoringOf(reputation, viewpoint)), id)
      },
    }),
  }),
  getAttestation: route('GET', '/contributors/:id/attestation', 'read', {
    summary: 'The attestation in the metadata of a contributor',
    params,
    response: attestationView,
    example: { contributor_id: CONTRIBUTOR_ID, uid: '0x1', attestation: { schema: '0x2' } },
    problems: ['contributor.not_found', 'contributor.attestation_not_found'],
    handler: async ({ params: { id } }, { engine }) => {
      const found = activeById((await engine.fresh()).signals.contributors, contributorId(id))
      if (found === null) return foundOr<never>(null, id)
      const code = 'contributor.attestation_not_found'
      return okOr(viewAttestation(found), code, 'This contributor has no attestation', { id })
    },
  }),
})

const foundOr = <Body>(body: Body | null, id: string) =>
  okOr(body, 'contributor.not_found', 'No contributor has this id', { id })

const scoringOf = (reputation: State['reputation'], { clock, configuration }: Viewpoint) =>
  scoringIn(reputation, isoNow(clock), configuration.karma)
