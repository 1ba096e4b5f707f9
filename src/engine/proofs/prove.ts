import { sameBytes } from '../../core/log/bytes.ts'
import { noteFaultOf, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { hashOf, preimageOf } from '../../core/log/hash-chain.ts'
import { eventLeaf } from '../../core/log/merkle.ts'
import { consistencyProofText, inclusionProofText, type SignedTreeHead } from '../../core/log/proof.ts'
import { consistencyPath, inclusionPath, isConsistent, rootFromInclusion } from '../../core/log/tree.ts'
import type { Keys } from '../../core/operations/keys.ts'
import { stretchOf } from '../../core/operations/unsigned.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Signatures } from '../../ports/signatures.ts'
import type { CheckpointStep } from '../integrity/checkpointer.ts'
import type { SignerKey } from '../integrity/signer-keys.ts'
import { isSignedInPlace, keyOf, type Trust } from '../integrity/trust.ts'
import { createFold, type Fold } from '../integrity/trusted-fold.ts'
import { sha256, sha256Hex } from '../sha256.ts'
import { storedHashes } from './stored-tree.ts'

export interface ProverDependencies {
  readonly log: EventLog
  readonly checkpoints: CheckpointStore
  readonly signatures: Signatures
  readonly trust: Trust
  /** The fold of a running engine. Without one, the log is folded from the root that this reader trusts. */
  readonly fold?: Fold
  /** Key whose checkpoints are preferred, because outsiders know it. */
  readonly signer: SignerKey | null
  /** Makes one step towards a checkpoint of the current log; null without a key. */
  readonly signCheckpoint: (() => Promise<CheckpointStep>) | null
}

export type Proved =
  | { readonly status: 'proved'; readonly text: string }
  /** No proof is available; `detail` gives the reason. */
  | { readonly status: 'unavailable'; readonly detail: string }

/**
 * Proves that the event is in the log, by the oldest checkpoint that covers it, which dates the event most precisely.
 */
export const proveEvent = async (dependencies: ProverDependencies, record: LogRecord): Promise<Proved> => {
  const { log } = dependencies
  const index = record.seq - 1
  if (hashOf(record.prevHash, record, sha256Hex) !== record.hash)
    return unavailable(`event ${record.seq} does not have the hash of its content`)
  const { memory } = await (dependencies.fold ?? createFold(log, dependencies.trust))()
  const { nodes, unsigned } = memory.state.operations
  // A checkpoint covers everything in the log, including events that were smuggled into it. The fold has checked each
  // event when it was read. The batch and the path to the signed root show that the event is still the same.
  const isVerified = record.seq <= memory.head.seq && stretchOf(unsigned, record.seq) === undefined
  if (!isVerified || !(await isSignedInPlace(log, record, { ...nodes, retired: [] }, dependencies.trust)))
    return unavailable(`event ${record.seq} is not signed by a key that this log accepts`)
  const found = await checkpointCovering({ ...dependencies, keys: nodes }, record.seq)
  if (found.status === 'unavailable') return found
  const { note, size, root } = found
  const path = await storedHashes(log, inclusionPath(index, size))
  const leaf = eventLeaf(record.hash, sha256)
  const reached = path === null ? null : rootFromInclusion({ leaf, index, size, path }, sha256)
  if (path === null || reached === null || !sameBytes(reached, root)) return damaged(size)
  return proved(inclusionProofText({ index, path, preimage: preimageOf(record.prevHash, record), note }))
}

/** Proves that the log of the larger checkpoint begins with all events of the smaller one. */
export const proveConsistency = async (
  log: EventLog,
  older: Pick<SignedTreeHead, 'size' | 'root' | 'note'>,
  newer: Pick<SignedTreeHead, 'size' | 'root' | 'note'>,
): Promise<Proved> => {
  const path = await storedHashes(log, consistencyPath(older.size, newer.size))
  const claim = { oldSize: older.size, oldRoot: older.root, newSize: newer.size, newRoot: newer.root }
  if (path === null || !isConsistent({ ...claim, path }, sha256)) return damaged(newer.size)
  return proved(consistencyProofText({ path, older: older.note, newer: newer.note }))
}

export type ProvedGrowth =
  | Proved
  /** No checkpoint of this size is kept. `kept` lists the newest sizes that are. */
  | { readonly status: 'not-kept'; readonly size: number | null; readonly kept: readonly number[] }

/**
 * Like `proveConsistency`, for two kept checkpoints, named by their sizes in any order. Null means the oldest and the
 * newest.
 */
export const proveGrowth = async (
  { log, checkpoints }: Pick<ProverDependencies, 'log' | 'checkpoints'>,
  from: number | null,
  to: number | null,
): Promise<ProvedGrowth> => {
  const one = await keptCheckpoint(checkpoints, from, 'oldest')
  if (one.status === 'not-kept') return one
  const other = await keptCheckpoint(checkpoints, to)
  if (other.status === 'not-kept') return other
  return one.size <= other.size ? proveConsistency(log, one, other) : proveConsistency(log, other, one)
}

/** Returns the checkpoint of this size. Null means the one at the given end. */
export const keptCheckpoint = async (
  checkpoints: Pick<CheckpointStore, 'read'>,
  size: number | null,
  end: 'oldest' | 'newest' = 'newest',
): Promise<UsableCheckpoint | Extract<ProvedGrowth, { status: 'not-kept' }>> => {
  const kept = usableCheckpoints((await checkpoints.read('all')).notes)
  const found =
    size === null ? kept.at(end === 'newest' ? -1 : 0) : kept.find((checkpoint) => checkpoint.size === size)
  return found ?? { status: 'not-kept', size, kept: kept.slice(-SIZES_SHOWN).map((one) => one.size) }
}

const SIZES_SHOWN = 10

export interface UsableCheckpoint {
  readonly status: 'found'
  readonly size: number
  /** Root of the tree over event hashes. */
  readonly root: Uint8Array
  readonly note: string
}

/** Kept checkpoints that a proof can lead to, smallest first: those with a root over event hashes. */
export const usableCheckpoints = (notes: readonly SignedCheckpoint[]): readonly UsableCheckpoint[] =>
  notes.flatMap(({ eventRoot, frontier: { size }, note }) =>
    eventRoot === null ? [] : [{ status: 'found', size, root: eventRoot, note }],
  )

type Unavailable = Extract<Proved, { status: 'unavailable' }>

type CoveringDependencies = ProverDependencies & { readonly keys: Keys }

const checkpointCovering = async (
  dependencies: CoveringDependencies,
  seq: number,
): Promise<UsableCheckpoint | Unavailable> => {
  const { signer } = dependencies
  const isOurs = ({ keyName }: SignedCheckpoint): boolean => signer === null || keyName === signer.nodeId
  const kept = await keptCovering(dependencies, seq, isOurs)
  if (kept !== null) return kept
  const obstacle = await signUpTo(dependencies, seq)
  // If another process has just signed one, there is nothing new to sign.
  const signed =
    (await keptCovering(dependencies, seq, isOurs)) ?? (await keptCovering(dependencies, seq, () => true))
  return signed ?? unavailable(obstacle)
}

/** Signs until the event is covered. Returns the obstacle if it is not. */
const signUpTo = async ({ signCheckpoint }: ProverDependencies, seq: number): Promise<string> => {
  if (signCheckpoint === null) return 'no checkpoint covers this event yet'
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const result = await signCheckpoint()
    if (result.status === 'stopped') return `no checkpoint is signed: ${result.fault.detail}`
    if (result.status === 'idle' || (result.status === 'signed' && result.size >= seq)) break
  }
  return 'no checkpoint covers this event yet: the log is still being read'
}

/**
 * Returns the smallest checkpoint that covers the event and is signed by a key that is accepted now. A thief of a key that
 * was retired since could sign a tree with events that were never stored.
 */
const keptCovering = async (
  { checkpoints, signatures, keys, trust }: CoveringDependencies,
  seq: number,
  isWanted: (note: SignedCheckpoint) => boolean,
): Promise<UsableCheckpoint | null> => {
  const newest = await checkpoints.read('newest')
  // The end of the file is sufficient if it reaches back to before the event.
  const isEnough = newest.notes.some(({ frontier }) => frontier.size < seq)
  const { notes } = isEnough ? newest : await checkpoints.read('all')
  const covering = notes.filter(
    (note) => note.frontier.size >= seq && note.eventRoot !== null && isWanted(note),
  )
  for (const note of covering) {
    const publicKeyHex = keyOf(keys, note.keyName, trust)
    if (publicKeyHex === undefined || noteFaultOf(note, publicKeyHex, sha256) !== null) continue
    const claim = { text: note.text, signatureHex: note.signature, publicKeyHex }
    if ((await signatures.verifyAll([claim])).length === 0) return usableCheckpoints([note])[0] ?? null
  }
  return null
}

/** Steps of 5,000 events: enough for the first checkpoint of half a million events. */
const STEPS_MAX = 100

const proved = (text: string): Proved => ({ status: 'proved', text })

const unavailable = (detail: string): Unavailable => ({ status: 'unavailable', detail })

const damaged = (size: number): Unavailable =>
  unavailable(
    `the stored tree does not lead to the root that was signed at ${size}; "svc integrity" shows what was changed`,
  )
