import { hexFromBytes, sameBytes } from '../../core/log/bytes.ts'
import { leafHash } from '../../core/log/merkle.ts'
import {
  parseProof,
  type ConsistencyProof,
  type InclusionProof,
  type ProvenEvent,
  type SignedTreeHead,
  type VerifierKey,
} from '../../core/log/proof.ts'
import { isConsistent, rootFromInclusion } from '../../core/log/tree.ts'
import type { Signatures } from '../../ports/signatures.ts'
import { sha256 } from '../sha256.ts'

export type ProofVerdict =
  | {
      readonly status: 'included'
      readonly seq: number
      /** 64 hex digits. */
      readonly hash: string
      readonly event: ProvenEvent
      readonly treeHead: SignedTreeHead
    }
  | { readonly status: 'consistent'; readonly older: SignedTreeHead; readonly newer: SignedTreeHead }
  | RefusedProof

export interface RefusedProof {
  readonly status: 'refused'
  readonly reason: ProofFault
  readonly detail: string
}

export type ProofFault =
  /** The file is not a proof. */
  | 'malformed'
  /** The event is not at this place of the signed tree. */
  | 'not_included'
  /** The larger tree does not begin with the smaller one, or they belong to two logs. */
  | 'inconsistent'
  /** The proof is consistent, but no key was given to check the signature. */
  | 'key_missing'
  /** Another key signed the checkpoint. */
  | 'wrong_key'
  /** The signature does not match the checkpoint. */
  | 'signature'

/** Checks a proof with only the public key of the log. */
export const verifyProof = async (
  text: string,
  key: VerifierKey | null,
  signatures: Signatures,
): Promise<ProofVerdict> => {
  const proof = parseProof(text)
  switch (proof.kind) {
    case 'malformed':
      return refused('malformed', `this is no proof: ${proof.why}`)
    case 'inclusion':
      return verifyInclusion(proof, key, signatures)
    case 'consistency':
      return verifyConsistency(proof, key, signatures)
  }
}

const verifyInclusion = async (
  { index, path, preimage, event, treeHead }: InclusionProof,
  key: VerifierKey | null,
  signatures: Signatures,
): Promise<ProofVerdict> => {
  const hash = sha256(preimage)
  const { size } = treeHead
  const root = rootFromInclusion({ leaf: leafHash(hash, sha256), index, size, path }, sha256)
  if (root === null || !sameBytes(root, treeHead.root))
    return refused(
      'not_included',
      `event ${event.id} is not number ${index + 1} of the ${size} signed events`,
    )
  const fault = await signatureFault([treeHead], key, signatures)
  return fault ?? { status: 'included', seq: index + 1, hash: hexFromBytes(hash), event, treeHead }
}

const verifyConsistency = async (
  { path, older, newer }: ConsistencyProof,
  key: VerifierKey | null,
  signatures: Signatures,
): Promise<ProofVerdict> => {
  if (older.origin !== newer.origin)
    return refused('inconsistent', `the checkpoints are of two logs: ${older.origin} and ${newer.origin}`)
  const roots = { oldSize: older.size, oldRoot: older.root, newSize: newer.size, newRoot: newer.root }
  if (!isConsistent({ ...roots, path }, sha256))
    return refused(
      'inconsistent',
      `the log of ${newer.size} events does not begin with those of ${older.size}`,
    )
  const fault = await signatureFault([older, newer], key, signatures)
  return fault ?? { status: 'consistent', older, newer }
}

const signatureFault = async (
  treeHeads: readonly SignedTreeHead[],
  key: VerifierKey | null,
  signatures: Signatures,
): Promise<RefusedProof | null> => {
  for (const treeHead of treeHeads) {
    const { size, text } = treeHead
    const signers = treeHead.signatures.map(({ keyName, keyId }) => `${keyName} (key id ${keyId})`).join(', ')
    if (key === null)
      return refused(
        'key_missing',
        `the checkpoint at ${size} says that it is signed by ${signers}; without that key this is not checked`,
      )
    const line = treeHead.signatures.find(({ keyName, keyId }) => keyName === key.name && keyId === key.keyId)
    if (line === undefined)
      return refused(
        'wrong_key',
        `the checkpoint at ${size} is signed by ${signers}, not by ${key.name} (key id ${key.keyId})`,
      )
    const claim = { text, signatureHex: line.signature, publicKeyHex: key.publicKey }
    if ((await signatures.verifyAll([claim])).length > 0)
      return refused('signature', `${key.name} did not sign this checkpoint at ${size}`)
  }
  return null
}

const refused = (reason: ProofFault, detail: string): RefusedProof => ({ status: 'refused', reason, detail })
