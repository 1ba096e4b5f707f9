import { hasTypePrefix, type Head, type LogRecord } from '../core/log/event.ts'
import { fieldFaultOf, hashOf, type Sha256Hex } from '../core/log/hash-chain.ts'
import type { NodeRange } from '../core/log/tree.ts'
import type { DerivedData } from './derived-data.ts'

export type AppendResult =
  /** All records are durable. */
  | { readonly status: 'appended' }
  /** The head is elsewhere: another process appended. Nothing was stored. */
  | { readonly status: 'head-moved' }
  /** The token is that of an earlier leader. Nothing was stored, and nothing will be under this token. */
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

/** The one place where things are remembered. Each adapter runs event-log.contract.ts. */
export interface EventLog {
  readonly kind: 'memory' | 'sqlite' | 'postgres'
  /** The newest durable event. */
  head(): Promise<Head>
  /**
   * Stores all records or none, and only if the head is `expected`. Resolves after they are durable.
   * May be called again before that, behind the head that will be: calls are taken in order.
   * `leaderToken`: of the lease on whose behalf it is made; compared in the same transaction with the newest one.
   */
  append(records: readonly LogRecord[], expected: Head, leaderToken?: number | null): Promise<AppendResult>
  read(query: LogQuery): Promise<readonly LogRecord[]>
  /** Signals of a domain (`signal.ta`), or of all, newest `ts` first, then newest seq. */
  readByTime(query: {
    readonly domain: string | null
    readonly limit: number
    readonly offset: number
  }): Promise<readonly LogRecord[]>
  /** How many events have this domain (first two segments), category (first segment), or any. O(1). Throws for more. */
  count(typePrefix?: string): Promise<number>
  /** All domains (first two segments) that occur, with their counts. */
  countByDomain(): Promise<ReadonlyMap<string, number>>
  get(id: string): Promise<LogRecord | null>
  /** The events that hold these dedupe keys; keys never seen are absent. */
  findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, LogRecord>>
  saveSnapshot(snapshot: Snapshot): Promise<void>
  /** The newest snapshot of this version, of this signer or of any, whose chain hash still stands at its seq. */
  loadSnapshot(stateVersion: string, signer?: string): Promise<Snapshot | null>
  /** Calls `onAppended` soon after any process appended, also for our own appends. May call too often. */
  watch(onAppended: () => void): () => void
  /** Rows in seq order for verification, in pages, without parsing. */
  scan(range: { readonly after: number; readonly upTo: number }): AsyncIterable<readonly LogRecord[]>
  /**
   * Recomputes every hash and link of (after, upTo] as fast as the adapter can, trusting the hash at `after`.
   * Every seq up to `upTo` has to be there: a missing one is a fault of the sequence.
   */
  verifyHashes(range: VerifyRange): Promise<ChainReport>
  /**
   * Nodes of the tree over event hashes (core/log/tree), in order, up to the first one that is missing. Level 0 are the
   * leaf hashes. Nodes are written in the transaction of the event that completes them.
   */
  treeNodes(range: NodeRange): Promise<readonly Uint8Array[]>
  /**
   * The newest event that was acknowledged, as it is remembered outside of the log itself; null if nothing is. Absent
   * where the log cannot lose its end without the whole of it.
   */
  recordedHead?(): Promise<RecordedHead | null>
  /** An operator accepts the loss: what was remembered is moved aside, and the log as it is counts. Where it is now. */
  forgetRecordedHead?(label: string): Promise<string | null>
  /** Indexes and counts stored beside the events. Absent where everything is derived when it is asked for. */
  readonly derived?: DerivedData
  /** Calls `onLost` once, if what is stored can no longer be found: see StoreLostError. */
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

/** The fold up to `seq`, as a cache: never truth. */
export interface Snapshot {
  readonly seq: number
  readonly chainHash: string
  readonly stateVersion: string
  readonly stateHash: string
  readonly state: string
  /** 128 hex digits, over `snapshotText`. */
  readonly signature: string
  readonly signer: string
}

/** The store did not take or give: a full disk, a failed sync, a lost connection. Nothing half-written. */
export class StoreUnavailableError extends Error {
  override readonly name: string = 'StoreUnavailableError'
}

/**
 * The files of the log were deleted, exchanged or overwritten under the process. What it stores nobody will find again, so it takes
 * nothing more until an operator has put the files back and restarted it.
 */
export class StoreLostError extends StoreUnavailableError {
  override readonly name: string = 'StoreLostError'
}

/** Throws if the records do not follow the head one after the other: a bug of the caller, never a lost race. */
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

/** What is wrong with the record that stands behind `previous`. Of several faults the one that explains the others. */
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

/** How many of these events, counted by domain, have this domain or category, or any. */
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

/** The one form of all timestamps of the log: sorted as text they are sorted by time. */
export const isTimestamp = (text: string): boolean => TIMESTAMP.test(text)

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
