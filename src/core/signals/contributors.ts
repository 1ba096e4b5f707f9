import type { ContributorId, NodeId, SignalId, Timestamp } from '../shared/brand.ts'
import { assertFold } from '../shared/assert.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, NewEvent, PayloadOf } from '../events/catalogue.ts'
import { NO_USD, sharedOut, usdFrom } from '../shared/money.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import type { JsonObject } from '../shared/json.ts'
import { storableObject } from '../shared/json-object.ts'
import {
  countAccepted,
  countAccrued,
  countResolved,
  countSubmitted,
  NO_RECORD,
  type TrackRecord,
} from './track-record.ts'
import { z } from 'zod'
import { displayName, plainName } from '../shared/text.ts'
import { publicKeyText } from './signed-submissions.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'

export interface Contributor {
  readonly id: ContributorId
  readonly nodeId: NodeId
  readonly name: string
  readonly role: string
  /** Once set, only the holder of this key can submit as the contributor. */
  readonly publicKey: string | null
  readonly registeredAt: Timestamp
  readonly metadata: JsonObject
  readonly removed: boolean
  readonly record: TrackRecord
}

/** Signals of contributors that no cycle has used yet, by id. Each signal counts as accepted once. */
type Unused = PersistentMap<
  SignalId,
  { readonly contributorId: ContributorId; readonly receivedAt: Timestamp }
>

const INITIAL_UNUSED: Unused = PersistentMap()

/** Registered contributors. Removed ones stay for their history, but only active ones are found by node id. */
export interface Contributors {
  readonly byId: PersistentMap<ContributorId, Contributor>
  readonly idOfNode: PersistentMap<NodeId, ContributorId>
  /**
   * The latest key registered under a node id. It stays after a removal, so that no other contributor can take the name
   * over.
   */
  readonly keyOfNode: PersistentMap<NodeId, string>
  /** Signals that no brain cycle has used yet. */
  readonly unused: Unused
}

export const INITIAL_CONTRIBUTORS: Contributors = {
  byId: PersistentMap(),
  idOfNode: PersistentMap(),
  keyOfNode: PersistentMap(),
  unused: INITIAL_UNUSED,
}

/** Limit of tracked signals. Beyond it, new signals are not tracked until a cycle sweeps. */
export const UNUSED_MAX = 200_000

/** The brain uses no signal older than four days. */
const WAIT_MS_MAX = 4 * DAY_MS

export const remembered = (
  unused: Unused,
  signalId: SignalId,
  contributorId: ContributorId,
  receivedAt: Timestamp,
): Unused => (unused.size >= UNUSED_MAX ? unused : unused.set(signalId, { contributorId, receivedAt }))

/** The signals that a conviction uses for the first time. Inputs without a share are not used. */
const usedIn = (
  unused: Unused,
  /** Absent from a damaged event. */
  inputs: PayloadOf<'brain.conviction.v1'>['inputs'] | undefined = [],
): readonly { readonly signalId: SignalId; readonly contributorId: ContributorId }[] => {
  if (unused.size === 0) return []
  return inputs.flatMap(({ signal_id: signalId, share }) => {
    const waiting = share > 0 ? unused.get(signalId) : undefined
    return waiting === undefined ? [] : [{ signalId, contributorId: waiting.contributorId }]
  })
}

export const swept = (unused: Unused, now: Timestamp): Unused => {
  if (unused.size === 0) return unused
  const oldest = timestampAt(Date.parse(now) - WAIT_MS_MAX)
  const old: SignalId[] = []
  // Most cycles find no old signal: searching first avoids a copy of the map.
  for (const [id, { receivedAt }] of unused) if (receivedAt < oldest) old.push(id)
  return old.length === 0 ? unused : unused.deleteAll(old)
}

export interface Registration {
  readonly nodeId: NodeId
  readonly name: string
  readonly role: string
  readonly metadata: JsonObject
  readonly publicKey?: string | undefined
}

export const activeById = ({ byId }: Contributors, id: ContributorId): Contributor | null => {
  const contributor = byId.get(id)
  return contributor === undefined || contributor.removed ? null : contributor
}

export const activeByNode = ({ byId, idOfNode }: Contributors, nodeId: NodeId): Contributor | null => {
  const id = idOfNode.get(nodeId)
  return id === undefined ? null : (byId.get(id) ?? null)
}

export const registerContributor = (
  contributors: Contributors,
  registration: Registration,
  { newId, source, isOperator }: { readonly newId: () => string } & KeyAuthority,
): Decision => {
  const { nodeId, publicKey } = registration
  if (contributors.idOfNode.has(nodeId)) return duplicate(nodeId)
  const before = contributors.keyOfNode.get(nodeId)
  // Registering a name with a key again needs the same key, or an operator with a new one. A registration without a key
  // is refused.
  const keepsKey = before === undefined || before === publicKey || (isOperator && publicKey !== undefined)
  return keepsKey
    ? accept(registrationOf(registration, newId(), source))
    : keyProtected(nodeId, 'it is registered with the same public_key, or by an operator with a new one')
}

/** Origin of a request. Changes of a key need an operator: the operator token, or the command line. */
interface KeyAuthority {
  readonly source: string
  readonly isOperator: boolean
}

export const duplicate = (nodeId: NodeId): Decision =>
  refuse('contributor.duplicate', `a contributor or producer is already registered as ${nodeId}`, {
    node_id: nodeId,
  })

const keyProtected = (nodeId: NodeId, needed: string): Decision =>
  refuse('contributor.key_protected', `${nodeId} has a public key: ${needed}`, { node_id: nodeId })

/** Marks a contributor as removed. Its history stays, and the node may register again as a new contributor. */
export const removeContributor = (
  contributors: Contributors,
  id: ContributorId,
  { source, isOperator }: KeyAuthority,
): Decision => {
  const contributor = activeById(contributors, id)
  if (contributor === null) return refuse('contributor.not_found', `no contributor has id ${id}`, { id })
  if (contributor.publicKey !== null && !isOperator) {
    return keyProtected(contributor.nodeId, 'only an operator may remove it')
  }
  return accept(removal(id, contributor.nodeId, source))
}

/** The node as which this process writes. */
export interface WritingNode {
  readonly nodeId: NodeId
  readonly publicKey: string
  readonly ephemeral: boolean
}

/** Registers the node as a contributor and removes ephemeral nodes of earlier processes. */
export const welcomeNode = (contributors: Contributors, node: WritingNode, newId: () => string): Decision => {
  const gone = [...contributors.idOfNode.values()]
    .flatMap((id) => contributors.byId.get(id) ?? [])
    .filter((contributor) => isEphemeralNode(contributor) && contributor.nodeId !== node.nodeId)
    .map(({ id, nodeId }) => removal(id, nodeId, 'system'))
  if (contributors.idOfNode.has(node.nodeId)) return accept(...gone)
  const metadata = { public_key: node.publicKey, ...(node.ephemeral ? { ephemeral: true } : {}) }
  const registration = { nodeId: node.nodeId, name: LOCAL_OPERATOR, role: OPERATOR, metadata }
  return accept(...gone, registrationOf(registration, newId(), 'system'))
}

const LOCAL_OPERATOR = 'local-operator'
const OPERATOR = 'operator'

/** Metadata alone does not identify such a node, because other contributors may set it too. */
const isEphemeralNode = ({ name, role, metadata }: Contributor): boolean =>
  name === LOCAL_OPERATOR && role === OPERATOR && metadata['ephemeral'] === true

export const evolveContributors = (contributors: Contributors, event: KnownEvent): Contributors => {
  switch (event.type) {
    case 'contributor.registered.v1':
      return registered(contributors, event)
    case 'contributor.removed.v1': {
      const { contributor_id: id, node_id: nodeId } = event.payload
      const known = contributors.byId.get(id)
      assertFold(known !== undefined, `contributor ${id} is removed but not registered`)
      return {
        ...contributors,
        byId: contributors.byId.set(id, { ...known, removed: true }),
        idOfNode: contributors.idOfNode.delete(nodeId),
      }
    }
    case 'attribution.recorded.v1': {
      const { contributor_id: id, signal_id: signalId, score } = event.payload
      // `id` is null for producers, and absent from a damaged event.
      if (typeof id !== 'string') return contributors
      const at = event.recordedAt
      return {
        ...contributors,
        byId: recorded(contributors.byId, id, (record) => countSubmitted(record, at, score)),
        unused: remembered(contributors.unused, signalId, id, at),
      }
    }
    case 'brain.conviction.v1':
      return usedIn(contributors.unused, event.payload.inputs).reduce(
        (known, { signalId, contributorId }) => ({
          byId: recorded(known.byId, contributorId, (record) => countAccepted(record, event.ts)),
          idOfNode: known.idOfNode,
          keyOfNode: known.keyOfNode,
          unused: known.unused.delete(signalId),
        }),
        contributors,
      )
    case 'attribution.resolved.v1': {
      const { contributor_id: id, hit } = event.payload
      if (typeof id !== 'string' || typeof hit !== 'boolean') return contributors
      return {
        ...contributors,
        byId: recorded(contributors.byId, id, (record) => countResolved(record, event.payload)),
      }
    }
    case 'karma.intent.v1': {
      const { contributors: shares, karma_amount_usd: amount } = event.payload
      const amounts = sharedOut(
        usdFrom(amount),
        shares.map(({ share }) => share),
      )
      const byId = shares.reduce(
        (known, { contributor_id: id }, index) =>
          recorded(known, id, (record) => countAccrued(record, amounts[index] ?? NO_USD)),
        contributors.byId,
      )
      return { ...contributors, byId }
    }
    case 'brain.cycle.v1': {
      const unused = swept(contributors.unused, event.ts)
      return unused === contributors.unused ? contributors : { ...contributors, unused }
    }
    default:
      return contributors
  }
}

const registered = (
  contributors: Contributors,
  { ts: registeredAt, payload }: Extract<KnownEvent, { type: 'contributor.registered.v1' }>,
): Contributors => {
  const { contributor_id: id, node_id: nodeId, name, role, metadata, public_key: publicKey } = payload
  const contributor = {
    id,
    nodeId,
    name,
    role,
    publicKey: publicKey ?? null,
    registeredAt,
    metadata,
    removed: false,
    record: NO_RECORD,
  }
  return {
    ...contributors,
    byId: contributors.byId.set(id, contributor),
    idOfNode: contributors.idOfNode.set(nodeId, id),
    keyOfNode:
      publicKey === undefined ? contributors.keyOfNode : contributors.keyOfNode.set(nodeId, publicKey),
  }
}

const recorded = (
  byId: Contributors['byId'],
  id: ContributorId,
  count: (record: TrackRecord) => TrackRecord,
): Contributors['byId'] => {
  const known = byId.get(id)
  if (known === undefined) return byId
  return byId.set(id, { ...known, record: count(known.record) })
}

const registrationOf = (
  { nodeId, name, role, metadata, publicKey }: Registration,
  id: string,
  source: string,
): NewEvent => ({
  type: 'contributor.registered.v1',
  source,
  payload: {
    contributor_id: id,
    node_id: nodeId,
    name,
    role,
    ...(publicKey === undefined ? {} : { public_key: publicKey }),
    metadata,
  },
})

const removal = (id: ContributorId, nodeId: NodeId, source: string): NewEvent => ({
  type: 'contributor.removed.v1',
  source,
  payload: { contributor_id: id, node_id: nodeId },
})

const METADATA_BYTES_MAX = 16 * 1024

/** The body of a registration. */
export const contributorRegistration = z.object({
  node_id: plainName(128),
  name: displayName(128),
  role: displayName(64).meta({ description: 'usually operator, agent, curator or tester' }),
  metadata: storableObject({ bytesMax: METADATA_BYTES_MAX }).default({}),
  public_key: publicKeyText()
    .optional()
    .meta({ description: 'Ed25519, 64 hex digits; then each submission must be signed with it' }),
})
