import type { Head, LogRecord } from '../core/log/event.ts'

export type AppendResult =
  /** All records are durable. */
  | { readonly status: 'appended' }
  /** The head is elsewhere: another process appended. Nothing was stored. */
  | { readonly status: 'head-moved' }

export interface LogQuery {
  /** Exclusive bounds on seq. */
  readonly after?: number
  readonly before?: number
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
  /** Stores all records or none, and only if the head is `expected`. Resolves after they are durable. */
  append(records: readonly LogRecord[], expected: Head): Promise<AppendResult>
  read(query: LogQuery): Promise<readonly LogRecord[]>
  /** Signals of a domain (`signal.ta`), or of all, newest `ts` first, then newest seq. */
  readByTime(query: {
    readonly domain: string | null
    readonly limit: number
    readonly offset: number
  }): Promise<readonly LogRecord[]>
  /** How many events have this domain (first two segments), category (first segment), or any. O(1). */
  count(typePrefix?: string): Promise<number>
  /** All domains (first two segments) that occur, with their counts. */
  countByDomain(): Promise<ReadonlyMap<string, number>>
  get(id: string): Promise<LogRecord | null>
  /** The events that hold these dedupe keys; keys never seen are absent. */
  findByDedupeKeys(keys: readonly string[]): Promise<ReadonlyMap<string, LogRecord>>
  saveSnapshot(snapshot: Snapshot): Promise<void>
  /** The newest snapshot whose chain hash still stands at its seq. */
  loadSnapshot(stateVersion: string): Promise<Snapshot | null>
  /** Calls `onAppended` soon after any process appended, also for our own appends. May call too often. */
  watch(onAppended: () => void): () => void
  /** Rows in seq order for verification, in pages, without parsing. */
  scan(range: { readonly after: number; readonly upTo: number }): AsyncIterable<readonly LogRecord[]>
  /** Recomputes every hash and link of (after, upTo] as fast as the adapter can. */
  verifyHashes(range: VerifyRange): Promise<ChainReport>
  /** Bytes of the main database; 0 if unknown. */
  sizeBytes(): Promise<number>
  close(): Promise<void>
}

export interface VerifyRange {
  readonly after: number
  readonly upTo: number
  readonly onProgress?: (checked: number) => void
}

export type ChainFaultKind = 'hash' | 'link' | 'sequence' | 'field' | 'order'

export type ChainReport =
  | { readonly ok: true; readonly checked: number }
  | {
      readonly ok: false
      readonly checked: number
      readonly seq: number
      readonly id: string | null
      readonly kind: ChainFaultKind
      readonly detail: string
    }

/** The fold up to `seq`, as a cache: never truth. */
export interface Snapshot {
  readonly seq: number
  readonly chainHash: string
  readonly stateVersion: string
  readonly stateHash: string
  readonly state: string
}

/** The store did not take or give: a full disk, a failed sync, a lost connection. Nothing half-written. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}
