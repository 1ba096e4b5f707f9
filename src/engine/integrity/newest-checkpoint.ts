import { noteFaultOf, type SignedCheckpoint } from '../../core/log/checkpoint.ts'
import type { Head, LogRecord } from '../../core/log/event.ts'
import type { Keys } from '../../core/operations/keys.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { faultAt, type IntegrityFault } from './findings.ts'
import { sha256 } from '../sha256.ts'
import { noteFaultAt, originOf, signatureClaim } from './tree-check.ts'
import { keyEverOf, type Trust } from './trust.ts'

/** Keys that are accepted for checkpoints: the accepted keys of the verified log, and the reader's own. */
export interface NoteSigners {
  readonly keys: Keys
  readonly trust: Pick<Trust, 'own' | 'signatures'>
}

/**
 * Whether the log still matches the newest checkpoint: the same first event, and the same chain hash at the
 * checkpoint's size. Reads at most two events. The frontier of the checkpoint can then be extended.
 */
export const newestFaultOf = async (
  log: EventLog,
  newest: SignedCheckpoint,
  head: Head,
  signers: NoteSigners,
): Promise<IntegrityFault | null> => {
  const { size } = newest.frontier
  const first = await eventAt(log, 1)
  if (first !== null && originOf(first) !== newest.origin) {
    const detail = `the checkpoint at ${size} is of another log: it began with another event`
    return faultAt({ seq: 1, id: first.id }, 'checkpoint', detail)
  }
  const forged = await forgeryOf(newest, signers)
  if (size > head.seq) {
    // The key may have been lost together with the end of the log. A note that is certainly forged proves no loss.
    return forged !== null && forged.certain ? forged.fault : truncation(head, newest)
  }
  if (forged !== null) return forged.fault
  const record = await eventAt(log, size)
  if (record?.hash === newest.head) return null
  const detail = `event ${size} is not the one of the checkpoint at ${size}`
  return faultAt({ seq: size, id: record?.id ?? null }, 'checkpoint', detail)
}

const truncation = ({ seq }: Head, { time, frontier: { size } }: SignedCheckpoint): IntegrityFault =>
  faultAt({ seq: seq + 1 }, 'truncated', `the log ends at ${seq}, but on ${time} it had ${size} events`)

const forgeryOf = async (
  note: SignedCheckpoint,
  { keys, trust }: NoteSigners,
): Promise<{ readonly fault: IntegrityFault; readonly certain: boolean } | null> => {
  const publicKey = keyEverOf(keys, note.keyName, trust)
  if (publicKey === undefined) {
    return { fault: noteFaultAt(note, `the key of its signer ${note.keyName} is not known`), certain: false }
  }
  const why = noteFaultOf(note, publicKey, sha256)
  if (why !== null) return { fault: noteFaultAt(note, why), certain: true }
  const { signed, fault } = signatureClaim(note, publicKey)
  const bad = await trust.signatures.verifyAll([signed])
  return bad.length === 0 ? null : { fault, certain: true }
}

export const eventAt = async (log: EventLog, seq: number): Promise<LogRecord | null> => {
  for await (const page of log.scan({ after: seq - 1, upTo: seq })) return page[0] ?? null
  return null
}
