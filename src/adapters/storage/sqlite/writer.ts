import { domainOf, stampedFrom, type Head, type LogRecord } from '../../../core/log/event.ts'
import { refsInText, refsOf } from '../../../core/log/refs.ts'
import { assertLinked, isTimestamp, type AppendResult } from '../../../ports/event-log.ts'
import { firstRow, prepare, prepareRows, type Database, type Statement } from './database.ts'
import { HEAD_SEQ } from './schema.ts'
import type { SnapshotPart } from './snapshots.ts'
import { TreeWriter } from './tree.ts'

export type WriterRequest =
  | {
      readonly kind: 'append'
      readonly records: readonly LogRecord[]
      readonly expected: Head
      readonly leaderToken: number | null
    }
  | { readonly kind: 'lead'; readonly claim: Claim }
  | { readonly kind: 'snapshot'; readonly part: SnapshotPart }
  /** Rebuilds everything derived from the events. */
  | { readonly kind: 'rebuild' }

/** Result of each kind of request. */
export interface WriterResults {
  readonly append: AppendResult
  /** The token of the new leader; null if another process was faster. */
  readonly lead: number | null
  readonly snapshot: null
  readonly rebuild: null
}

export type WriterAnswer =
  | { readonly status: 'done'; readonly result: WriterResults[keyof WriterResults] }
  /** The files were deleted, replaced or overwritten: stored events could not be found. */
  | { readonly status: 'lost'; readonly message: string }
  /** An error of the disk, the file or the lock. A later attempt may succeed. */
  | { readonly status: 'unavailable'; readonly message: string }
  /** The request itself is wrong and will never succeed. */
  | { readonly status: 'refused'; readonly message: string }

/** Claim to replace the leader with this token, with a token that is also larger than `above`. */
export interface Claim {
  readonly after: number
  readonly above: number
  readonly holder: string
}

/** Appends to the log. After an error, roll back its transaction before the next request. */
export class EventWriter {
  readonly #db: Database
  readonly #head: Statement
  readonly #insertEvent: Statement
  readonly #insertAbout: Statement
  readonly #count: Statement
  readonly #tree: TreeWriter
  readonly #leaderToken: Statement
  readonly #insertLeader: Statement

  constructor(db: Database) {
    this.#db = db
    this.#head = prepareRows(db, `SELECT seq, hash FROM events WHERE seq = (${HEAD_SEQ})`)
    this.#insertEvent = prepare(
      db,
      'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
    this.#insertAbout = prepare(db, 'INSERT INTO about VALUES (?, ?)')
    this.#count = prepare(
      db,
      'INSERT INTO counters VALUES (?, ?) ON CONFLICT (dom) DO UPDATE SET n = n + excluded.n',
    )
    this.#tree = new TreeWriter(db)
    this.#leaderToken = prepareRows(db, NEWEST_LEADER)
    this.#insertLeader = prepare(db, 'INSERT INTO leaders VALUES (?, ?)')
  }

  /** Compares the head under the write lock, which keeps several processes from forking the chain. */
  append(records: readonly LogRecord[], expected: Head, leaderToken: number | null): AppendResult {
    assertLinked(records, expected)
    records.forEach(assertStorable)
    this.#db.exec('BEGIN IMMEDIATE')
    if (leaderToken !== null && firstRow(this.#leaderToken)?.[0] !== leaderToken) {
      this.#db.exec('ROLLBACK')
      return { status: 'fenced' }
    }
    const [seq, hash] = firstRow(this.#head) ?? [0, '']
    if (seq !== expected.seq || hash !== expected.hash) {
      this.#db.exec('ROLLBACK')
      return { status: 'head-moved' }
    }
    const counts = new Map<string, number>()
    for (const record of records) {
      const domain = domainOf(record.type)
      counts.set(domain, (counts.get(domain) ?? 0) + 1)
      this.#insert(record, domain)
    }
    for (const [domain, count] of counts) this.#count.run(domain, count)
    this.#tree.grow(expected.seq, expected.seq + records.length)
    this.#db.exec('COMMIT')
    return { status: 'appended' }
  }

  lead({ after, above, holder }: Claim): number | null {
    this.#db.exec('BEGIN IMMEDIATE')
    if (firstRow(this.#leaderToken)?.[0] !== after) {
      this.#db.exec('ROLLBACK')
      return null
    }
    const token = Math.max(after, above) + 1
    this.#insertLeader.run(token, holder)
    this.#db.exec('COMMIT')
    return token
  }

  #insert(record: LogRecord, domain: string): void {
    this.#insertEvent.run(
      record.seq,
      record.id,
      record.type,
      domain,
      record.ts,
      record.schemaVersion,
      record.source,
      record.traceId,
      record.dedupeKey,
      record.payload,
      record.prevHash,
      record.hash,
      record.signature,
      record.signer,
      record.recordedAt,
      record.batchSignature,
      record.commands,
    )
    for (const ref of refsIn(record)) this.#insertAbout.run(ref, record.seq)
  }
}

/** Token of the newest leader; 0 before the first one. */
export const NEWEST_LEADER = 'SELECT coalesce(max(token), 0) FROM leaders'

/** Parsing a payload costs as much as storing the event, so it is parsed only if its text names something. */
const refsIn = (record: LogRecord): readonly string[] =>
  refsInText(record).length === 0 ? [] : refsOf(stampedFrom(record))

/**
 * Throws for text that the driver would change (a NUL, half a surrogate pair), and for values that could not be found
 * again.
 */
const assertStorable = (record: LogRecord): void => {
  const { seq, id, type, ts, schemaVersion, source, traceId, dedupeKey, payload, recordedAt, commands } =
    record
  if (!payload.startsWith('{') || !payload.endsWith('}')) throw new Error(`record ${seq} has no JSON object`)
  const all = [id, type, ts, schemaVersion, payload, source, traceId, dedupeKey, commands].join(' ')
  if (all.includes('\0') || !all.isWellFormed())
    throw new Error(`record ${seq} holds text that cannot be stored`)
  if ([source, traceId, dedupeKey].some((text) => text !== null && CONTROL.test(text)))
    throw new Error(`record ${seq} holds a control character`)
  if (!SHA256.test(record.hash)) throw new Error(`record ${seq} has no SHA-256 in hex`)
  if (record.signature !== null && !ED25519.test(record.signature))
    throw new Error(`record ${seq} has no Ed25519 signature in hex`)
  // Signals are sorted by the text of their time.
  if (!isTimestamp(recordedAt) || (type.startsWith('signal.') && !isTimestamp(ts)))
    throw new Error(`record ${seq} has no timestamp of the one form`)
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const CONTROL = /[\u0000-\u001f]/
const SHA256 = /^[0-9a-f]{64}$/
const ED25519 = /^[0-9a-f]{128}$/
