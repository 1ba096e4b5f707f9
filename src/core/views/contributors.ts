import { z } from 'zod'
import {
  type Contributor,
  type Contributors,
  evolveContributors,
  INITIAL_CONTRIBUTORS,
} from '../signals/contributors.ts'
import { asKnown } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import { assert } from '../shared/assert.ts'
import { isJsonObject, jsonObject } from '../shared/json-object.ts'
import type { JsonObject } from '../shared/json.ts'
import { oldestFirst, shown } from './members.ts'

export const contributorView = z.object({
  id: z.string(),
  node_id: z.string(),
  name: z.string(),
  role: z.string(),
  registered_at: z.string(),
  metadata: jsonObject,
  public_key: z.string().optional().meta({ description: 'Ed25519; absent without one' }),
})

export type ContributorView = z.infer<typeof contributorView>

export const attestedView = z.object({ contributor_id: z.string(), node_id: z.string(), uid: z.string() })

export const attestationView = z.object({
  contributor_id: z.string(),
  uid: z.string().nullable(),
  attestation: jsonObject,
})

const withoutKey = shown(contributorView.omit({ public_key: true }))

export const viewContributor = (contributor: Contributor): ContributorView => {
  const { publicKey } = contributor
  return { ...withoutKey(contributor), ...(publicKey === null ? {} : { public_key: publicKey }) }
}

/** The contributor that these events registered. */
export const viewRegistered = (events: readonly Stamped[]): ContributorView => {
  const { byId } = events
    .flatMap((event) => asKnown(event) ?? [])
    .reduce(evolveContributors, INITIAL_CONTRIBUTORS)
  const [contributor] = byId.values()
  assert(contributor !== undefined, 'a registration must register a contributor')
  return viewContributor(contributor)
}

export const viewContributors = (contributors: Contributors): ContributorView[] =>
  inOrder(contributors).map(viewContributor)

/** Contributors with an attestation that has a UID, oldest first. */
export const viewAttested = (contributors: Contributors): z.infer<typeof attestedView>[] =>
  inOrder(contributors).flatMap(({ id, nodeId, metadata }) => {
    const uid = uidIn(metadata)
    return uid === null ? [] : [{ contributor_id: id, node_id: nodeId, uid }]
  })

/** The attestation of a contributor, or null without one. */
export const viewAttestation = ({ id, metadata }: Contributor): z.infer<typeof attestationView> | null => {
  const { eas } = metadata
  const attestation = isJsonObject(eas) ? eas['attestation'] : undefined
  const uid = uidIn(metadata)
  if (uid === null && !isJsonObject(attestation)) return null
  return { contributor_id: id, uid, attestation: isJsonObject(attestation) ? attestation : {} }
}

const uidIn = ({ eas }: JsonObject): string | null => {
  const uid = isJsonObject(eas) ? eas['uid'] : undefined
  return typeof uid === 'string' && uid !== '' ? uid : null
}

/** Registered contributors, oldest first. */
const inOrder = ({ byId, idOfNode }: Contributors): readonly Contributor[] =>
  [...idOfNode.values()]
    .flatMap((id) => byId.get(id) ?? [])
    .sort(oldestFirst(({ registeredAt }) => registeredAt))
