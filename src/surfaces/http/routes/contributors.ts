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
import { scoreView, viewLeaderboard, viewScore } from '../../../core/views/reputation.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { resultOf, ok, refused, type Refused } from '../results.ts'
import { CONTRIBUTOR, CONTRIBUTOR_ID, SCORE } from '../examples.ts'
import { integer, pathText } from '../fields.ts'
import { defineRoute } from '../route.ts'

const tag = 'Contributors'
const contributor = contributorView.meta({ id: 'Contributor' })
const score = scoreView.meta({ id: 'ContributorScore' })
const params = z.object({ id: pathText('the id of the contributor, not its node_id', CONTRIBUTOR_ID) })

export const contributorRoutes = [
  defineRoute({
    method: 'GET',
    path: '/contributors',
    operationId: 'listContributors',
    tag,
    summary: 'Contributors, oldest first',
    response: z.array(contributor),
    example: [CONTRIBUTOR],
    handler: async (_input, { engine }) => ok(viewContributors((await engine.fresh()).signals.contributors)),
  }),
  defineRoute({
    method: 'POST',
    path: '/contributors/register',
    operationId: 'registerContributor',
    tag,
    summary: 'Register a contributor',
    body: contributorRegistration.meta({
      examples: [{ node_id: 'n1', name: 'Ann', role: 'curator', metadata: {} }],
    }),
    response: contributor,
    example: CONTRIBUTOR,
    problems: ['contributor.duplicate'],
    handler: async ({ body: { node_id, name, role, metadata }, traceId }, { engine }) => {
      const registration = { nodeId: nodeId(node_id), name, role, metadata }
      const command = { kind: 'register-contributor', registration, surface: 'api' } as const
      return resultOf(await engine.execute(command, { traceId }), viewRegistered)
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/contributors/leaderboard',
    operationId: 'getLeaderboard',
    tag,
    summary: 'Contributors by score, best first',
    query: z.object({ limit: integer(20, { min: 1, max: 200 }, 'how many') }),
    response: z.array(score),
    example: [SCORE],
    handler: async ({ query: { limit } }, { engine, clock, configuration }) => {
      const { signals, reputation } = await engine.fresh()
      const scoring = {
        asOf: isoNow(clock),
        outcomes: reputation.outcomes,
        rules: configuration.current().karma,
      }
      return ok(viewLeaderboard(signals.contributors, scoring, limit))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/contributors/attestations',
    operationId: 'listAttestations',
    tag,
    summary: 'Contributors with an attestation UID in their metadata',
    response: z.array(attestedView),
    example: [{ contributor_id: CONTRIBUTOR_ID, node_id: 'n1', uid: '0x1' }],
    handler: async (_input, { engine }) => ok(viewAttested((await engine.fresh()).signals.contributors)),
  }),
  defineRoute({
    method: 'GET',
    path: '/contributors/:id',
    operationId: 'getContributor',
    tag,
    summary: 'One contributor',
    params,
    response: contributor,
    example: CONTRIBUTOR,
    problems: ['contributor.not_found'],
    handler: async ({ params: { id } }, { engine }) => {
      const found = activeById((await engine.fresh()).signals.contributors, contributorId(id))
      return found === null ? unknownContributor(id) : ok(viewContributor(found))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/contributors/:id',
    operationId: 'removeContributor',
    tag,
    summary: 'Remove a contributor',
    description: 'Its history stays. The node_id may register again, as a new contributor.',
    params,
    response: z.object({ removed: z.string() }),
    example: { removed: CONTRIBUTOR_ID },
    problems: ['contributor.not_found'],
    handler: async ({ params: { id }, traceId }, { engine }) => {
      const command = { kind: 'remove-contributor', id: contributorId(id), surface: 'api' } as const
      return resultOf(await engine.execute(command, { traceId }), () => ({ removed: id }))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/contributors/:id/score',
    operationId: 'getContributorScore',
    tag,
    summary: 'Score of a contributor, with its factors',
    params,
    response: score,
    example: SCORE,
    problems: ['contributor.not_found'],
    handler: async ({ params: { id } }, { engine, clock, configuration }) => {
      const { signals, reputation } = await engine.fresh()
      const found = activeById(signals.contributors, contributorId(id))
      const scoring = {
        asOf: isoNow(clock),
        outcomes: reputation.outcomes,
        rules: configuration.current().karma,
      }
      return found === null ? unknownContributor(id) : ok(viewScore(found, scoring))
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/contributors/:id/attestation',
    operationId: 'getAttestation',
    tag,
    summary: 'The attestation in the metadata of a contributor',
    params,
    response: attestationView,
    example: { contributor_id: CONTRIBUTOR_ID, uid: '0x1', attestation: { schema: '0x2' } },
    problems: ['contributor.not_found', 'contributor.attestation_not_found'],
    handler: async ({ params: { id } }, { engine }) => {
      const found = activeById((await engine.fresh()).signals.contributors, contributorId(id))
      if (found === null) return unknownContributor(id)
      const attestation = viewAttestation(found)
      return attestation === null
        ? refused('contributor.attestation_not_found', 'This contributor has no attestation', {
            extras: { id },
          })
        : ok(attestation)
    },
  }),
]

const unknownContributor = (id: string): Refused =>
  refused('contributor.not_found', 'No contributor has this id', { extras: { id } })
