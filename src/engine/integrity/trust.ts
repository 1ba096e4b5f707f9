import { BatchCutter, type Batch, type Stretch } from '../../core/log/batch.ts'
import { headOf, type Head, type LogRecord } from '../../core/log/event.ts'
import { acceptedKey, keyEventIn, keyOfBatch, type Keys } from '../../core/operations/keys.ts'
import { chainFaultOf, type EventLog, type Snapshot } from '../../ports/event-log.ts'
import type { Signatures } from '../../ports/signatures.ts'
import { yieldToEventLoop } from '../../ports/yield-to-event-loop.ts'
import { restOfBatch } from '../batch-bounds.ts'
import { sha256Hex } from '../sha256.ts'
import type { SignerKey } from './signer-keys.ts'

/** Facts that a reader trusts independently of the log. */
export interface Trust {
  readonly signatures: Signatures
  /** The reader's own key, which needs no admission. Null for a reader without one. */
  readonly own: SignerKey | null
  /** Hash of the first event, as this node has pinned it; null if it has not. */
  readonly firstHash: string | null
}

/** Events in order, and the seqs of those without a valid signature for their place in the log. */
export interface CheckedRecords {
  readonly records: readonly LogRecord[]
  readonly unsigned: ReadonlySet<number>
}

/** Events between two yields to the event loop: less than a millisecond of work. */
const HASHED_AT_ONCE = 100

/** Follows the log batch by batch and checks the signature of each batch. */
export class BatchCheck {
  readonly #trust: Trust
  readonly #cutter = new BatchCutter(sha256Hex)
  /** The event before the next one, whether valid or not. */
  #previous: Head
  /**
   * True if the log does not begin with the event that this node has pinned. Keys that such a log names are not
   * accepted.
   */
  #isExchanged = false

  constructor(trust: Trust, after: Head) {
    this.#trust = trust
    this.#previous = after
  }

  /**
   * Checks whole batches of these records, including those left over from the previous call. `keys` is called before
   * each piece, since the piece before may have changed the keys.
   */
  async *checked(
    records: readonly LogRecord[],
    { isLast, keys }: { readonly isLast: boolean; readonly keys: () => Keys },
  ): AsyncGenerator<CheckedRecords> {
    const stretches = records.flatMap((record) => this.#cutter.add(record))
    if (isLast) stretches.push(...this.#cutter.end())
    let piece: Stretch[] = []
    for (const stretch of stretches) {
      piece.push(stretch)
      if (!recordsOf(stretch).some((record) => keyEventIn(record) !== null)) continue
      yield await this.#check(piece, keys())
      piece = []
    }
    yield await this.#check(piece, keys())
  }

  async #check(piece: readonly Stretch[], keys: Keys): Promise<CheckedRecords> {
    const { own, firstHash, signatures } = this.#trust
    const [begin] = piece.flatMap(recordsOf)
    if (this.#previous.seq === 0 && firstHash !== null && begin !== undefined)
      this.#isExchanged ||= begin.hash !== firstHash
    const unsigned = new Set<number>()
    const reject = (records: readonly LogRecord[]): void => {
      for (const { seq } of records) unsigned.add(seq)
    }
    const batches: Batch[] = []
    const claims = piece.flatMap((stretch) => {
      if (stretch.kind === 'loose') {
        reject(stretch.records)
        return []
      }
      const { text, signature: signatureHex, signer, records } = stretch.batch
      const isOwnOrBelieved = !this.#isExchanged || signer === own?.nodeId
      const publicKeyHex = isOwnOrBelieved
        ? (keyOf(keys, signer, this.#trust) ?? keyOfBatch(keys, signer, records))
        : undefined
      if (publicKeyHex === undefined) {
        reject(records)
        return []
      }
      batches.push(stretch.batch)
      return [{ text, signatureHex, publicKeyHex }]
    })
    for (const index of await signatures.verifyAll(claims)) reject(batches[index]?.records ?? [])
    const records = piece.flatMap(recordsOf)
    for (const [index, record] of records.entries()) {
      if (index % HASHED_AT_ONCE === HASHED_AT_ONCE - 1) await yieldToEventLoop()
      // The signature of a batch covers the hashes. Whether an event still matches its hash is checked for each event.
      if (chainFaultOf(this.#previous, record, sha256Hex) !== null) unsigned.add(record.seq)
      this.#previous = headOf(record)
    }
    return { records, unsigned }
  }
}

/** Key that checks signatures of a node. A node accepts its own key, unless it was retired. */
export const keyOf = (keys: Keys, nodeId: string, { own }: Trust): string | undefined =>
  acceptedKey(keys, nodeId) ??
  (own?.nodeId === nodeId && !keys.retired.includes(nodeId) ? own.publicKey : undefined)

/** Key that checks the signature of a checkpoint or a snapshot: any key that the log ever accepted. */
export const keyEverOf = (keys: Keys, nodeId: string, { own }: Pick<Trust, 'own'>): string | undefined =>
  own?.nodeId === nodeId ? own.publicKey : keys.publicKeys.get(nodeId)

/** Whether an accepted key has signed this event at its place, according to its batch. */
export const isSignedInPlace = async (
  log: Pick<EventLog, 'read'>,
  { seq }: LogRecord,
  keys: Keys,
  trust: Trust,
): Promise<boolean> => {
  const batch = await batchAround(log, seq)
  const [first] = batch
  if (first === undefined) return false
  const check = new BatchCheck(trust, { seq: first.seq - 1, hash: first.prevHash, recordedAt: '' })
  for await (const { unsigned } of check.checked(batch, { isLast: true, keys: () => keys }))
    if (unsigned.has(seq)) return false
  return true
}

/** The events of the batch that holds this event. */
export const batchAround = async (
  log: Pick<EventLog, 'read'>,
  seq: number,
): Promise<readonly LogRecord[]> => {
  // The last event of a batch has its signature, which states the number of events in the batch.
  const behind: LogRecord[] = []
  for await (const record of restOfBatch(log, seq)) behind.push(record)
  const count = Number(behind.at(-1)?.batchSignature?.split(':')[0] ?? 0)
  const missing = count - behind.length
  const before =
    missing <= 0
      ? []
      : await log.read({ after: seq - 1 - missing, before: seq, order: 'asc', limit: missing })
  return [...before, ...behind]
}

const recordsOf = (stretch: Stretch): readonly LogRecord[] =>
  stretch.kind === 'batch' ? stretch.batch.records : stretch.records

/** Returns the fault of a stored snapshot, or null. `publicKeyHex` belongs to its signer; undefined if no such key was accepted. */
export const snapshotFaultOf = async (
  snapshot: Snapshot,
  signatures: Signatures,
  publicKeyHex: string | undefined,
): Promise<string | null> => {
  const { seq, signature: signatureHex } = snapshot
  if (sha256Hex(snapshot.state) !== snapshot.stateHash) return damagedSnapshot(snapshot)
  const isSigned =
    publicKeyHex !== undefined &&
    (await signatures.verifyAll([{ text: snapshotText(snapshot), signatureHex, publicKeyHex }])).length === 0
  return isSigned ? null : `the snapshot at ${seq} is not signed by an accepted key`
}

/**
 * Snapshot from which a reader continues. A snapshot decides the state, including the accepted keys, so only the
 * reader's own key can vouch for it, not a key that the log names. A reader without its own key uses none.
 */
export const rootSnapshot = async (
  log: Pick<EventLog, 'loadSnapshot'>,
  stateVersion: string,
  trust: Trust | null,
): Promise<Snapshot | null> => {
  if (trust === null) {
    const snapshot = await log.loadSnapshot(stateVersion)
    return snapshot !== null && sha256Hex(snapshot.state) === snapshot.stateHash ? snapshot : null
  }
  const { own, signatures } = trust
  if (own === null) return null
  const snapshot = await log.loadSnapshot(stateVersion, own.nodeId)
  if (snapshot === null || snapshot.signer !== own.nodeId) return null
  return (await snapshotFaultOf(snapshot, signatures, own.publicKey)) === null ? snapshot : null
}

const damagedSnapshot = ({ seq }: Snapshot): string => `the snapshot at ${seq} is damaged`

/** Text that the signature of a snapshot covers: the state, its release, and its log. */
export const snapshotText = ({
  seq,
  chainHash,
  stateVersion,
  stateHash,
}: Pick<Snapshot, 'seq' | 'chainHash' | 'stateVersion' | 'stateHash'>): string =>
  `snapshot|${seq}|${chainHash}|${stateVersion}|${stateHash}`
