import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { EMPTY_HEAD, headOf, type Head } from '../../../core/log/event.ts'
import {
  chainFaultOf,
  missingFault,
  StoreUnavailableError,
  type ChainFault,
  type ChainReport,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import { WorkerThread } from '../../worker.ts'
import { allRows, firstRow, prepareRows, type Database, type Statement } from './database.ts'
import { RECORD_COLUMNS, recordFrom } from '../../record-row.ts'

export interface Slice {
  readonly after: number
  readonly upTo: number
}

export type VerifyAnswer =
  | { readonly status: 'verified'; readonly fault: ChainFault | null }
  | { readonly status: 'failed'; readonly message: string }

export interface VerifyOptions {
  /** Ends it when the log is closed. */
  readonly signal: AbortSignal
  readonly threads?: number
  readonly sliceEvents?: number
}

/** Below this, starting threads takes longer than verifying. */
export const VERIFY_HERE_MAX = 2000

/** Verifies a long range on every core. Threads take slices from the front; the first fault of all is reported. */
export const verifyInThreads = async (
  path: string,
  { after, upTo, onProgress }: VerifyRange,
  { signal, threads = availableParallelism(), sliceEvents = SLICE_EVENTS }: VerifyOptions,
): Promise<ChainReport> => {
  let next = after
  let checked = 0
  let first: ChainFault | null = null
  const work = async (): Promise<void> => {
    const thread = new WorkerThread<Slice, VerifyAnswer>('./sqlite-verify-thread.ts', import.meta.url, path)
    try {
      // Slices behind a fault need no check: it comes before anything in them.
      while (next < upTo && first === null) {
        const slice = { after: next, upTo: Math.min(next + sliceEvents, upTo) }
        next = slice.upTo
        const answer = await thread.request(slice)
        if (answer.status === 'failed')
          throw new StoreUnavailableError(`cannot verify ${path}: ${answer.message}`)
        if (signal.aborted) throw new StoreUnavailableError(`cannot verify ${path}: the log is closed`)
        first = earlierOf(first, answer.fault)
        checked += slice.upTo - slice.after
        onProgress?.(checked)
      }
    } finally {
      await thread.close()
    }
  }
  const count = Math.min(threads, Math.ceil((upTo - after) / sliceEvents))
  const ends = await Promise.allSettled(Array.from({ length: count }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return reportOf(first, { after, upTo })
}

export const reportOf = (fault: ChainFault | null, { after, upTo }: Slice): ChainReport =>
  fault === null
    ? { ok: true, checked: Math.max(0, upTo - after) }
    : { ok: false, checked: Math.max(0, fault.seq - after - 1), ...fault }

const earlierOf = (one: ChainFault | null, other: ChainFault | null): ChainFault | null =>
  one === null || (other !== null && other.seq < one.seq) ? other : one

/**
 * Verifies a part of the chain behind the stored hash at its start. A page with anything unusual in it is checked again
 * event by event, with the code that all stores share.
 */
export class SliceVerifier {
  readonly #page: Statement
  readonly #records: Statement

  constructor(db: Database) {
    this.#page = prepareRows(db, PAGE_SQL)
    this.#records = prepareRows(
      db,
      `SELECT ${RECORD_COLUMNS} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`,
    )
  }

  /** The first fault, or null. */
  verify({ after, upTo }: Slice): ChainFault | null {
    for (let start = after; start < upTo; start += PAGE) {
      const page = { after: start, upTo: Math.min(start + PAGE, upTo) }
      const fault = this.#isSound(page) ? null : this.#faultIn(page)
      if (fault !== null) return fault
    }
    return null
  }

  #isSound({ after, upTo }: Slice): boolean {
    const [text, hashes, payloadBytes] = firstRow(this.#page, after, upTo) ?? []
    if (typeof text !== 'string') return false
    const rows = text.split(SEPARATOR)
    if (rows.length !== upTo - after) return false
    const sums: string[] = []
    let otherBytes = rows.length - 1
    for (const row of rows) {
      BEFORE_PAYLOAD.lastIndex = 0
      if (!BEFORE_PAYLOAD.test(row)) return false
      otherBytes += BEFORE_PAYLOAD.lastIndex
      sums.push(sha256Hex(row.slice(RECORDED_AT_LENGTH)))
    }
    // If a field held a bar, its payload would begin behind a later one, and the bytes would not add up.
    return Buffer.byteLength(text) - otherBytes === payloadBytes && sums.join(SEPARATOR) === hashes
  }

  #faultIn({ after, upTo }: Slice): ChainFault | null {
    const start = after === 0 ? undefined : firstRow(this.#records, after - 1, after)
    if (after > 0 && start === undefined) return missingFault(after)
    let previous: Head = start === undefined ? EMPTY_HEAD : headOf(recordFrom(start))
    for (const row of allRows(this.#records, after, upTo)) {
      const record = recordFrom(row)
      const fault = chainFaultOf(previous, record, sha256Hex)
      if (fault !== null) return fault
      previous = headOf(record)
    }
    return previous.seq < upTo ? missingFault(previous.seq + 1) : null
  }
}

/** Never occurs raw in canonical JSON, nor in a field that may be hashed. */
const SEPARATOR = '\u001e'

/**
 * The time of recording and what is hashed of each event of a page, the stored hashes, and the bytes of the payloads.
 * Leaves out events that do not follow the one before them, and empty fields, which hash like absent ones. Three values
 * for a page: bringing as many for each event from SQLite to JavaScript takes longer than hashing it.
 */
const PAGE_SQL = `
SELECT
  group_concat(concat_ws('|', event.recorded_at, event.prev_hash, event.ts, event.id, event.type, event.schema_version,
    ifnull(event.source, ''), ifnull(event.trace_id, ''), ifnull(event.dedupe_key, ''), event.payload), char(30)),
  group_concat(event.hash, char(30)),
  sum(octet_length(event.payload))
FROM events AS event LEFT JOIN events AS previous ON previous.seq = event.seq - 1
WHERE event.seq > ? AND event.seq <= ?
  AND event.prev_hash = ifnull(previous.hash, '') AND event.recorded_at >= ifnull(previous.recorded_at, '')
  AND event.source IS NOT '' AND event.trace_id IS NOT '' AND event.dedupe_key IS NOT ''`

const TIMESTAMP = '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z'
const FIELD = '[^|\\u0000-\\u001f\\u007f]'

/** Time of recording, previous hash, four fields that are never empty, three that may be absent. */
const BEFORE_PAYLOAD = new RegExp(`${TIMESTAMP}\\|[^|]*\\|(?:${FIELD}+\\|){4}(?:${FIELD}*\\|){3}`, 'y')
const RECORDED_AT_LENGTH = '2026-01-01T00:00:00.000Z|'.length

/** Text of this size is still allocated cheaply by SQLite. */
const PAGE = 100
/** Short enough that no thread is left alone with much at the end. */
const SLICE_EVENTS = 10_000

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')
