import { hasTypePrefix, type Head, type LogRecord } from '../core/log/event.ts'
import { fieldFaultOf, hashOf, type Sha256Hex } from '../core/log/hash-chain.ts'
import type { NodeRange } from '../core/log/tree.ts'
import type { DerivedData } from './derived-data.ts'

export type AppendResult =
  /** All records are durable. */
  | { readonly status: 'appended' }
  /** Another process appended, so the head has moved. Nothing was stored. */
  | { readonly status: 'head-moved' }
  /** The token is that of an earlier leader. Nothing was stored, and nothing will be stored under this token. */
  | { readonly status: 'fenced' }

export interface LogQuery {
  /** Exclusive bounds on seq. */
  readonly after?: number | undefined
  readonly before?: number | undefined
  /** Type prefixes by whole segments; an event matches any. Absent = all. */
  readonly types?: readonly string[]
  /** Only events about this id (core/log/refs). */
  readonly about?: string
  readonly order: 'asc' | 'desc'
  readonly limit: number
}

/** Durable storage of all events. Each adapter runs event-log.contract.ts. */
export interface EventLog {
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** The newest durable event. */
  head(): Promise<Head>
  /**
   * Stores all records or none, and only if the head is `expected`. Resolves after they are durable. May be called
   * again before that, with the head that will result: calls are processed in order. `leaderToken` is that of the lease
   * for which the call is made, and is compared with the latest one in the same transaction.
   */
  append(records: readonly LogRecord[], expected: Head, leaderToken?: number | null): Promise<AppendResult>
  read(query: LogQuery): Promise<readonly LogRecord[]>
  /** Signals of a domain (`signal.ta`), or of all, newest `ts` first, then newest seq. */
  readByTime(query: {
    readonly domain: string | null
    readonly limit: number
    readonly offset: number
  }): Promise<readonly LogRecord[]>
  /**
   * Number of events with this domain (first two segments) or category (first segment), or of all events. O(1). Throws
   * for longer prefixes.
   */
  count(typePrefix?: string): Promise<number>
  /** All domains (first two segments) that occur, with their counts. */
  countByDomain(): Promise<ReadonlyMap<string, number>>
  get(id: string): Promise<LogRecord | null>
  /** The events that hold these dedupe keys; keys never seen are absent. */
  findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, LogRecord>>
  saveSnapshot(snapshot: Snapshot): Promise<void>
  /** The newest snapshot of this version, by this signer or any, whose chain hash still matches the log at its seq. */
  loadSnapshot(stateVersion: string, signer?: string): Promise<Snapshot | null>
  /** Calls `onAppended` soon after any process appended, including this one. May call too often. */
  watch(onAppended: () => void): () => void
  /** Rows in seq order for verification, in pages, without parsing. */
  scan(range: { readonly after: number; readonly upTo: number }): AsyncIterable<readonly LogRecord[]>
  /**
   * Recomputes every hash and link of (after, upTo] as fast as the adapter can, trusting the hash at `after`. Every seq
   * up to `upTo` must exist: a missing one is a fault of the sequence.
   */
  verifyHashes(range: VerifyRange): Promise<ChainReport>
  /**
   * Nodes of the tree over event hashes (core/log/tree), in order, up to the first one that is missing. Level 0 are the
   * leaf hashes. Nodes are written in the transaction of the event that completes them.
   */
  treeNodes(range: NodeRange): Promise<readonly Uint8Array[]>
  /**
   * The newest acknowledged event, as remembered outside of the log itself; null if none is. Absent if the log cannot
   * lose its end without being lost as a whole.
   */
  recordedHead?(): Promise<RecordedHead | null>
  /**
   * Accepts a loss on behalf of an operator. The remembered head is moved aside, and the log counts as it is. Returns
   * the new location of the remembered head.
   */
  forgetRecordedHead?(label: string): Promise<string | null>
  /** Indexes and counts stored beside the events. Absent if everything is derived on demand. */
  readonly derived?: DerivedData
  /** Calls `onLost` once if the stored data can no longer be found: see StoreLostError. */
  watchLoss?(onLost: (error: StoreLostError) => void): () => void
  /** Bytes of the main database; 0 if unknown. */
  sizeBytes(): Promise<number>
  close(): Promise<void>
}

export type RecordedHead = Pick<Head, 'seq' | 'hash'>

export interface VerifyRange {
  readonly after: number
  readonly upTo: number
  readonly onProgress?: (checked: number) => void
}

export type ChainFaultKind = 'hash' | 'link' | 'sequence' | 'field' | 'order'

/** The first event that cannot be trusted; without an id if it is not there. */
export interface ChainFault {
  readonly seq: number
  readonly id: string | null
  readonly kind: ChainFaultKind
  readonly detail: string
}

export type ChainReport =
  | { readonly ok: true; readonly checked: number }
  | ({ readonly ok: false; readonly checked: number } & ChainFault)

/** The fold up to `seq`, as a cache. The events remain authoritative. */
export interface Snapshot {
  readonly seq: number
  readonly chainHash: string
  readonly stateVersion: string
  readonly stateHash: string
  readonly state: string
  /** Signature over `snapshotText`, 128 hex digits. */
  readonly signature: string
  readonly signer: string
}

/**
 * Largest seq of an event: a million events a second for nine years. A row with a larger one was not written by this
 * program, and is no event. Above 2^53 the next seq could not be computed.
 */
export const SEQ_MAX = 2 ** 48

/** Thrown if the store cannot read or write: a full disk, a failed sync, a lost connection. Nothing is half-written. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError'
}

/**
 * Thrown if the files of the log were deleted, exchanged or overwritten while the process ran. Events stored from then
 * on would be lost, so the process stores nothing more until an operator has restored the files and restarted it.
 */
export class StoreLostError extends StoreUnavailableError {
  override readonly name: string = 'StoreLostError'
}

/** Throws if the records do not follow the head in sequence, which is a bug of the caller, never a lost race. */
export const assertLinked = (records: readonly LogRecord[], head: Head): void => {
  let { seq, hash } = head
  for (const record of records) {
    if (record.seq !== seq + 1 || record.prevHash !== hash) {
      throw new Error(`record ${record.seq} does not link to ${seq}`)
    }
    seq = record.seq
    hash = record.hash
  }
}

/** Fault of a record as the successor of `previous`, or null. Of several faults, the one that explains the others. */
export const chainFaultOf = (previous: Head, record: LogRecord, sha256Hex: Sha256Hex): ChainFault | null => {
  const { seq, id } = record
  if (seq > previous.seq + 1) return missingFault(previous.seq + 1)
  if (seq <= previous.seq) {
    return { seq, id, kind: 'sequence', detail: `event ${seq} stands behind event ${previous.seq}` }
  }
  if (record.prevHash !== previous.hash) {
    return { seq, id, kind: 'link', detail: `event ${seq} does not link to the event before it` }
  }
  if (hashOf(record.prevHash, record, sha256Hex) !== record.hash) {
    return { seq, id, kind: 'hash', detail: `event ${seq} does not have the hash of its content` }
  }
  const field = fieldFaultOf(record)
  if (field !== null) return { seq, id, kind: 'field', detail: `event ${seq}: ${field}` }
  if (!isTimestamp(record.recordedAt)) {
    return { seq, id, kind: 'field', detail: `event ${seq}: recordedAt is no timestamp` }
  }
  if (record.recordedAt >= previous.recordedAt) return null
  return { seq, id, kind: 'order', detail: `event ${seq} was recorded before the one it follows` }
}

/** Number of these events, counted by domain, with this domain or category, or of all. */
export const countIn = (counts: ReadonlyMap<string, number>, typePrefix: string | undefined): number => {
  if (typePrefix !== undefined && typePrefix.split('.').length > 2) {
    throw new Error(`${typePrefix} is no domain and no category`)
  }
  let count = 0
  for (const [domain, events] of counts) {
    if (typePrefix === undefined || hasTypePrefix(domain, typePrefix)) count += events
  }
  return count
}

export const missingFault = (seq: number): ChainFault => ({
  seq,
  id: null,
  kind: 'sequence',
  detail: `event ${seq} is missing`,
})

/** Whether the text is in the only form of timestamps in the log, whose text order is the order of time. */
export const isTimestamp = (text: string): boolean => TIMESTAMP.test(text)

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
