import { sameBytes } from '../../core/log/bytes.ts'
import { noteFaultOf, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { EMPTY_FRONTIER, extendFrontier, leafOf, rootOf, type Frontier } from '../../core/log/merkle.ts'
import type { SignedText } from '../../ports/signatures.ts'
import type { IntegrityFault } from './findings.ts'
import { sha256 } from '../sha256.ts'
import type { SignerKeys } from './signer-keys.ts'

/** A signature to check, and the fault to report if it is invalid. */
export interface SignatureClaim {
  readonly signed: SignedText
  readonly fault: IntegrityFault
}

interface TreeFindings {
  readonly faults: readonly IntegrityFault[]
  readonly claims: readonly SignatureClaim[]
}

/** Identifies the log by the hash of its first event, which contains the first key and is therefore unique. */
export const originOf = (first: Pick<LogRecord, 'hash'>): string => `signal-engine/events/${first.hash}`

export const leafOfRecord = (record: LogRecord, keys: SignerKeys): Uint8Array => {
  const publicKey = record.signer === null ? null : (keys.get(record.signer) ?? null)
  return leafOf(
    { hash: record.hash, signature: record.signature, publicKey, recordedAt: record.recordedAt },
    sha256,
  )
}

export interface TreeCheckOptions {
  /** Keys that the log introduces, accepted or not. A leaf contains the key of its signer. */
  readonly leafKeys: SignerKeys
  /** Returns the accepted key that checks a checkpoint. */
  readonly noteKey: (nodeId: string) => string | undefined
  readonly wholeLog: boolean
}

/**
 * Builds the Merkle tree over all leaves and compares it with each checkpoint on the way, smallest first. A part of a
 * log has no tree, so only the chain hashes at the checkpoints are compared.
 */
export const createTreeCheck = (
  notes: readonly SignedCheckpoint[],
  { leafKeys, noteKey, wholeLog }: TreeCheckOptions,
) => {
  let waiting = [...notes]
  let frontier: Frontier = EMPTY_FRONTIER
  let leaves: Uint8Array[] = []
  let origin: string | null = null
  let proven = 0
  let firstUnproven: Pick<LogRecord, 'seq' | 'id'> | null = null

  const grow = (): void => {
    frontier = extendFrontier(frontier, leaves, sha256)
    leaves = []
  }
  const agrees = (note: SignedCheckpoint, record: LogRecord): boolean => {
    if (record.seq !== note.frontier.size || record.hash !== note.head) return false
    if (origin !== null && origin !== note.origin) return false
    if (!wholeLog) return true
    grow()
    return sameBytes(rootOf(frontier, sha256), note.root)
  }
  const judge = (note: SignedCheckpoint, record: LogRecord): TreeFindings => {
    const publicKey = noteKey(note.keyName)
    // A part of a log may lack the key. Such a note proves nothing.
    if (publicKey === undefined && !wholeLog) return NOTHING
    if (publicKey === undefined)
      return { faults: [noteFaultAt(note, `the key of its signer ${note.keyName} is not known`)], claims: [] }
    const fault = noteFaultOf(note, publicKey, sha256)
    if (fault !== null) return { faults: [noteFaultAt(note, fault)], claims: [] }
    const claims = [signatureClaim(note, publicKey)]
    const { size } = note.frontier
    if (!agrees(note, record)) {
      // Every larger checkpoint would report the same fault.
      waiting = []
      return { faults: [contradiction(firstUnproven ?? record, size)], claims }
    }
    proven = size
    firstUnproven = null
    return { faults: [], claims }
  }

  return {
    /** Adds the next event. Returns faults, and signatures that still need checking. */
    add: (record: LogRecord): TreeFindings => {
      if (waiting.length === 0) return NOTHING
      if (record.seq === 1) origin = originOf(record)
      firstUnproven ??= { seq: record.seq, id: record.id }
      if (wholeLog) leaves.push(leafOfRecord(record, leafKeys))
      const reached = waiting.filter(({ frontier: { size } }) => size <= record.seq)
      waiting = waiting.slice(reached.length)
      const judged = reached.map((note) => judge(note, record))
      if (leaves.length >= LEAVES_MAX) grow()
      return {
        faults: judged.flatMap(({ faults }) => faults),
        claims: judged.flatMap(({ claims }) => claims),
      }
    },
    /** Size of the largest checkpoint that the log agrees with. */
    proven: () => proven,
  }
}

export const noteFaultAt = (note: SignedCheckpoint, why: string): IntegrityFault => ({
  reason: 'checkpoint',
  seq: null,
  id: null,
  shownAt: note.frontier.size,
  detail: `the checkpoint at ${note.frontier.size} is not to be trusted: ${why}`,
})

export const signatureClaim = (note: SignedCheckpoint, publicKeyHex: string): SignatureClaim => ({
  signed: { text: note.text, signatureHex: note.signature, publicKeyHex },
  fault: noteFaultAt(note, `${note.keyName} did not sign it`),
})

const NOTHING: TreeFindings = { faults: [], claims: [] }

const contradiction = ({ seq, id }: Pick<LogRecord, 'seq' | 'id'>, size: number): IntegrityFault => ({
  reason: 'checkpoint',
  seq,
  id,
  shownAt: size,
  detail: `events ${seq} to ${size} are not those of the checkpoint at ${size}`,
})

/** Leaves are joined in groups of this size. Larger groups would only use memory. */
const LEAVES_MAX = 256
