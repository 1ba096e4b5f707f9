import { hash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { EMPTY_HEAD, headOf, type Head } from '../../../core/log/event.ts'
import {
  chainFaultOf,
  isTimestamp,
  missingFault,
  StoreUnavailableError,
  type ChainFault,
  type ChainReport,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import { WorkerThread } from '../../worker.ts'
import { allRows, firstRow, prepareRows, type Database, type Statement } from './database.ts'
import { RECORD_COLUMNS, recordFrom } from './records.ts'

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

/** Verifies a part of the chain behind the stored hash at its start. */
export class SliceVerifier {
  readonly #page: Statement
  readonly #record: Statement

  constructor(db: Database) {
    this.#page = prepareRows(db, PAGE_SQL)
    this.#record = prepareRows(db, `SELECT ${RECORD_COLUMNS} FROM events WHERE seq = ?`)
  }

  /** The first fault, or null. */
  verify({ after, upTo }: Slice): ChainFault | null {
    let previous = after === 0 ? EMPTY_HEAD : this.#headAt(after)
    if (previous === null) return missingFault(after)
    while (previous.seq < upTo) {
      const rows = allRows(this.#page, previous.seq, Math.min(previous.seq + PAGE, upTo))
      if (rows.length === 0) return missingFault(previous.seq + 1)
      for (const row of rows) {
        const event = row as PageRow
        if (!isSound(event, previous)) {
          const fault = this.#faultAt(event[0], previous)
          if (fault !== null) return fault
        }
        previous = { seq: event[0], hash: event[1], recordedAt: event[2] }
      }
    }
    return null
  }

  #headAt(seq: number): Head | null {
    const row = firstRow(this.#record, seq)
    return row === undefined ? null : headOf(recordFrom(row))
  }

  /** What exactly is wrong, in the words that all adapters share. */
  #faultAt(seq: number, previous: Head): ChainFault | null {
    const row = firstRow(this.#record, seq)
    return row === undefined ? missingFault(seq) : chainFaultOf(previous, recordFrom(row), sha256Hex)
  }
}

/** SQLite joins what is hashed: that takes half the time of reading whole records. */
type PageRow = readonly [
  seq: number,
  hash: string,
  recordedAt: string,
  preimage: string,
  /** Negative where a field is empty, which hashes like an absent one. */
  payloadLength: number,
]

const PAGE_SQL = `
SELECT seq, hash, recorded_at,
  concat_ws('|', prev_hash, ts, id, type, schema_version, ifnull(source, ''), ifnull(trace_id, ''),
    ifnull(dedupe_key, ''), payload),
  iif(source IS '' OR trace_id IS '' OR dedupe_key IS '', -1, length(payload))
FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`

/** False for anything unusual, which is then checked as a whole. */
const isSound = ([seq, sum, recordedAt, preimage, payloadLength]: PageRow, previous: Head): boolean => {
  if (seq !== previous.seq + 1 || !preimage.startsWith(previous.hash)) return false
  if (preimage.charAt(previous.hash.length) !== '|') return false
  // If a field held a bar, the payload would not begin behind the eighth.
  BEFORE_PAYLOAD.lastIndex = 0
  if (!BEFORE_PAYLOAD.test(preimage) || BEFORE_PAYLOAD.lastIndex !== preimage.length - payloadLength)
    return false
  if (recordedAt < previous.recordedAt || !isTimestamp(recordedAt)) return false
  return sha256Hex(preimage) === sum
}

const FIELD = '[^|\\u0000-\\u001f\\u007f]'

/** The previous hash, four fields that are never empty, three that may be absent. */
const BEFORE_PAYLOAD = new RegExp(`[0-9a-f]*\\|(?:${FIELD}+\\|){4}(?:${FIELD}*\\|){3}`, 'y')

const PAGE = 250
/** Short enough that no thread is left alone with much at the end. */
const SLICE_EVENTS = 10_000

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')
