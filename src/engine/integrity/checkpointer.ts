import { sameBytes } from '../../core/log/bytes.ts'
import {
  checkpointText,
  parseSignedCheckpoint,
  signedNote,
  type SignedCheckpoint,
} from '../../core/log/checkpoint.ts'
import type { Head } from '../../core/log/event.ts'
import { rootOf } from '../../core/log/merkle.ts'
import { INITIAL_OPERATIONS } from '../../core/operations/evolve.ts'
import { acceptedKey } from '../../core/operations/keys.ts'
import { assert } from '../../core/shared/assert.ts'
import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Signatures } from '../../ports/signatures.ts'
import type { Signer } from '../../ports/signer.ts'
import { isoNow } from '../iso-now.ts'
import { storedFrontier } from '../proofs/stored-tree.ts'
import { faultAt, type IntegrityFault } from './findings.ts'
import { eventAt, newestFaultOf } from './newest-checkpoint.ts'
import { sha256 } from '../sha256.ts'
import { introducedAt } from './signer-keys.ts'
import { originOf } from './tree-check.ts'
import { createTreeWalk, type KnownOfEvents, type TreeWalk, type TreeWalkStart } from './tree-walk.ts'
import type { Trust } from './trust.ts'
import { createFold, type Fold, type TrustedHead } from './trusted-fold.ts'

export interface CheckpointerDependencies {
  readonly log: EventLog
  readonly checkpoints: CheckpointStore
  readonly signer: Signer
  readonly signatures: Signatures
  /** The fold of a running engine. Without one, the log is folded from the root that the signer trusts. */
  readonly fold?: Fold
  readonly clock: Pick<Clock, 'now'>
  readonly everyEvents: number
  readonly everyMs: number
  /** Limit of events that one step adds to the tree. */
  readonly stepMax: number
}

/** Limits between two checkpoints, while there are new events. */
export const CHECKPOINT_PACE = { everyEvents: 1000, everyMs: 10_000, stepMax: 5000 } as const

export type CheckpointStep =
  /** No checkpoint was due. */
  | { readonly status: 'idle' }
  /** A checkpoint at `size` is durable. `behind` is true if enough events are left for another one at once. */
  | { readonly status: 'signed'; readonly size: number; readonly behind: boolean }
  /** The tree has not reached a checkpoint of another process, or the event at which the log learned our key. */
  | { readonly status: 'catching-up' }
  /** The log contradicts the newest checkpoint. No checkpoint is made until an operator accepts the loss. */
  | { readonly status: 'stopped'; readonly fault: IntegrityFault }

export interface Checkpointer {
  /** Does a bounded amount of work. With `now`, makes a checkpoint of any new events. */
  step(when: 'due' | 'now'): Promise<CheckpointStep>
}

/**
 * Signs the state of the log repeatedly, outside of the log. Before each signature the log is compared with the newest
 * checkpoint of any process, so no two checkpoints ever contradict each other. A checkpoint ends at an event that this
 * process has verified itself, and is signed only if the walk to it gives the same chain hash. Rows that were exchanged
 * since, with matching hashes, are therefore not signed.
 */
export const createCheckpointer = (dependencies: CheckpointerDependencies): Checkpointer => {
  const { log, checkpoints, signer, signatures, clock } = dependencies
  const trust: Trust = { signatures, own: signer, firstHash: null }
  const fold = dependencies.fold ?? createFold(log, trust)
  let known: KnownOfEvents = INITIAL_OPERATIONS
  let walk: TreeWalk | null = null
  let origin: string | null = null
  let knownSince: number | null = null
  /** Newest checkpoint that agrees with our tree. */
  let agreed: SignedCheckpoint | null = null
  let stopped: { readonly note: string | null; readonly fault: IntegrityFault } | null = null

  /** Drops the tree, which is built again from a checked checkpoint or from the start. */
  const forget = (): void => {
    walk = null
    agreed = null
    origin = null
  }

  const stop = (newest: SignedCheckpoint | null, fault: IntegrityFault): CheckpointStep => {
    stopped = { note: newest?.note ?? null, fault }
    forget()
    return { status: 'stopped', fault }
  }

  /**
   * Extends our tree to the newest checkpoint and compares the two. Returns the obstacle to a new checkpoint, or null.
   */
  const agreeWith = async (newest: SignedCheckpoint, head: Head): Promise<CheckpointStep | null> => {
    if (newest.note === agreed?.note && newest.frontier.size <= head.seq) return null
    const fault = await newestFaultOf(log, newest, head, { keys: known.nodes, trust })
    if (fault !== null) return stop(newest, fault)
    // The tree is built anew if its signer's key was retired: a thief of the key could have signed another tree.
    const isRooted = acceptedKey(known.nodes, newest.keyName) !== undefined
    walk ??= createTreeWalk(log, () => known, isRooted ? await startAt(log, newest) : undefined)
    const { size } = newest.frontier
    // Our tree is ahead already. A smaller checkpoint was only written late.
    if (walk.frontier().size > size) return null
    const walkFault = await walk.forward(Math.min(size, walk.frontier().size + dependencies.stepMax))
    if (walkFault !== null) return stop(newest, walkFault)
    if (walk.frontier().size < size) return { status: 'catching-up' }
    if (!agrees(walk, newest)) return stop(newest, otherTree(newest))
    agreed = newest
    return null
  }

  /**
   * Seq at which the log learned our key; infinite if it does not know the key. Before it, a note by our key would
   * prove nothing, because readers of the log cannot know the key yet. The fold tells whether the log knows the key,
   * and only the seq is looked up.
   */
  const whenKnown = async (): Promise<number> => {
    if (known.nodes.publicKeys.get(signer.nodeId) !== signer.publicKey) return Infinity
    return (knownSince ??= await introducedAt(log, signer)) ?? 0
  }

  const sign = async (tree: TreeWalk): Promise<number> => {
    const frontier = tree.frontier()
    const first = origin === null ? await eventAt(log, 1) : null
    if (first !== null) origin = originOf(first)
    assert(origin !== null, 'a log with a head has a first event')
    const time = isoNow(clock)
    const root = rootOf(frontier, sha256)
    const eventRoot = rootOf(tree.eventFrontier(), sha256)
    const text = checkpointText({ origin, frontier, root, eventRoot, head: tree.head(), time })
    const [signature = ''] = await signer.signAll([text])
    const note = signedNote(text, { keyName: signer.nodeId, publicKey: signer.publicKey, signature }, sha256)
    await checkpoints.append(note)
    agreed = parseSignedCheckpoint(note)
    return frontier.size
  }

  const isDue = (newest: SignedCheckpoint | null, head: Head): boolean => {
    const fresh = head.seq - treeSizeOf(newest)
    // A wrong clock may have dated the checkpoint in the future. The next one does not wait for that time.
    const ageMs = newest === null ? Number.POSITIVE_INFINITY : Math.abs(clock.now() - Date.parse(newest.time))
    return fresh >= dependencies.everyEvents || (fresh > 0 && ageMs >= dependencies.everyMs)
  }

  const step = async (when: 'due' | 'now'): Promise<CheckpointStep> => {
    // Other processes can only have made a checkpoint less urgent, so the stored ones need not be read.
    if (when === 'due' && agreed !== null && !isDue(agreed, await log.head())) return IDLE
    // Checkpoints are read before the head: events written in between can only make the log longer.
    const newest = (await checkpoints.read('newest')).notes.at(-1) ?? null
    if (stopped !== null && stopped.note === (newest?.note ?? null))
      return { status: 'stopped', fault: stopped.fault }
    stopped = null
    if (newest === null && agreed !== null) forget()
    const head = await log.head()
    const { memory, heads } = await fold()
    known = memory.state.operations
    const obstacle = newest === null ? null : await agreeWith(newest, head)
    if (obstacle !== null) return obstacle
    const due = when === 'now' ? head.seq > treeSizeOf(newest) : isDue(newest, head)
    if (!due || (await whenKnown()) > head.seq) return IDLE
    walk ??= createTreeWalk(log, () => known)
    const from = walk.frontier().size
    const upTo = Math.min(head.seq, from + dependencies.stepMax)
    // The walk may have reached the event already, if its checkpoint could not be stored.
    const signedUpTo = Math.max(from - 1, treeSizeOf(newest))
    const trusted = memory.head.seq < head.seq ? null : heads.newestIn(signedUpTo, upTo)
    const fault = await walk.forward(trusted?.seq ?? upTo)
    if (fault !== null) return stop(newest, fault)
    if (trusted === null || trusted.seq < (await whenKnown())) return { status: 'catching-up' }
    if (walk.head() !== trusted.hash) return stop(newest, exchanged(trusted))
    const size = await sign(walk)
    return { status: 'signed', size, behind: head.seq - size >= dependencies.everyEvents }
  }

  let newestStep: Promise<unknown> = Promise.resolve()
  return {
    // Steps run one at a time, because the keeper follows the log while other callers request a checkpoint at once.
    step: (when) => {
      const next = newestStep.then(() => step(when))
      newestStep = next.catch(() => undefined)
      return next
    },
  }
}

/**
 * Start of a fresh tree: a note that a node of this log signed, and whose frontier gives its root. For the tree over
 * event hashes the note has only the root, and the stored nodes must give the same one. Otherwise the walk starts at
 * the first event.
 */
const startAt = async (log: EventLog, newest: SignedCheckpoint): Promise<TreeWalkStart | undefined> => {
  const { frontier, eventRoot, head } = newest
  const eventFrontier = eventRoot === null ? null : await storedFrontier(log, frontier.size)
  if (eventRoot === null || eventFrontier === null) return undefined
  return sameBytes(rootOf(eventFrontier, sha256), eventRoot) ? { frontier, eventFrontier, head } : undefined
}

const agrees = (walk: TreeWalk, { root, eventRoot }: SignedCheckpoint): boolean =>
  sameBytes(rootOf(walk.frontier(), sha256), root) &&
  (eventRoot === null || sameBytes(rootOf(walk.eventFrontier(), sha256), eventRoot))

const treeSizeOf = (newest: SignedCheckpoint | null): number => newest?.frontier.size ?? 0

const exchanged = ({ seq }: TrustedHead): IntegrityFault =>
  faultAt({ seq }, 'link', `event ${seq} is not the one that this node has verified`)

const IDLE: CheckpointStep = { status: 'idle' }

const otherTree = ({ frontier: { size } }: SignedCheckpoint): IntegrityFault =>
  faultAt({ seq: size }, 'checkpoint', `the events up to ${size} are not those of the checkpoint at ${size}`)
