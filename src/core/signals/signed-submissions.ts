import { z } from 'zod'
import { canonicalJson } from '../log/canonical-json.ts'
import type { ContributorId, NodeId, Timestamp } from '../shared/brand.ts'
import { type Decision, refuse } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { JsonObject } from '../shared/json.ts'
import { isTooFarAhead } from '../shared/time.ts'

/** An Ed25519 public key from outside: 64 hex digits, converted to lower case. */
export const publicKeyText = () =>
  z
    .string()
    .length(64)
    .regex(/^[0-9a-fA-F]{64}$/, { error: 'must be an Ed25519 public key: 64 hex digits' })
    .toLowerCase()

/** An Ed25519 signature from outside: 128 hex digits, converted to lower case. */
export const signatureText = () =>
  z
    .string()
    .length(128)
    .regex(/^[0-9a-fA-F]{128}$/, { error: 'must be an Ed25519 signature: 128 hex digits' })
    .toLowerCase()

/** Fields that the signature of a submission covers: the content of the stored signal, and its author. */
export interface SignedFields {
  /** Differs for every registration, so a signed text is valid in one log and for one registration only. */
  readonly contributorId: ContributorId
  readonly nodeId: NodeId
  readonly eventType: string
  readonly ts: Timestamp
  /** Source in its stored form: the node id if the submission names none. */
  readonly source: string
  readonly dedupeKey: string
  readonly payload: JsonObject
}

/** Separates signatures of submissions from signatures for any other purpose. */
const PREFIX = 'signal-engine/submission/v1'

/** The text that a contributor signs. docs/signing.md describes it for authors of other clients. */
export const submissionText = (fields: SignedFields): string =>
  `${PREFIX}\n${canonicalJson({
    contributor_id: fields.contributorId,
    dedupe_key: fields.dedupeKey,
    event_type: fields.eventType,
    node_id: fields.nodeId,
    payload: fields.payload,
    source: fields.source,
    ts: fields.ts,
  })}`

/** A submission before the engine has checked that all fields for a signature are present. */
export type ClaimedFields = Omit<SignedFields, 'ts' | 'dedupeKey'> & {
  readonly ts: Timestamp | null
  readonly dedupeKey: string | null
}

type Rules = Pick<DecisionContext, 'now' | 'configuration' | 'isSigned'>

/**
 * Returns why a submission may not be attributed to its contributor, or null. Once a key is registered, it is always
 * required.
 */
export const signatureRefusal = (
  claimed: ClaimedFields,
  publicKey: string | null,
  signature: string | undefined,
  { now, configuration, isSigned }: Rules,
): Decision | null => {
  const { ts, dedupeKey, nodeId } = claimed
  const invalid = (detail: string): Decision =>
    refuse('contributor.signature_invalid', detail, { node_id: nodeId })
  if (publicKey === null) {
    return signature === undefined
      ? null
      : invalid(`contributor ${nodeId} has no public key to check a signature with`)
  }
  if (signature === undefined) {
    const detail = `contributor ${nodeId} has a public key: its submissions must be signed`
    return refuse('contributor.signature_missing', detail, { node_id: nodeId })
  }
  if (ts === null || dedupeKey === null) return invalid('a signed submission needs ts and dedupe_key')
  const text = submissionText({ ...claimed, ts, dedupeKey })
  if (!isSigned({ text, signatureHex: signature, publicKeyHex: publicKey })) {
    return invalid(`the signature does not belong to this submission and the key of ${nodeId}`)
  }
  const { max_future_skew_seconds: skewSecondsMax, signed_max_age_seconds: ageSecondsMax } =
    configuration.signals
  const isOld = Date.parse(ts) < Date.parse(now) - ageSecondsMax * 1000
  if (!isOld && !isTooFarAhead(ts, now, skewSecondsMax)) return null
  const detail = `ts of a signed submission must be at most ${ageSecondsMax} s old and ${skewSecondsMax} s ahead`
  return refuse('contributor.signature_expired', detail, { node_id: nodeId, ts })
}
