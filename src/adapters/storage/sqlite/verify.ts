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
    const start = firstRow(this.#records, after - 1, after)
    if (after > 0 && start === undefined) return missingFault(after)
    let previous: Head = after === 0 || start === undefined ? EMPTY_HEAD : headOf(recordFrom(start))
    while (previous.seq < upTo) {
      const end = Math.min(previous.seq + PAGE, upTo)
      const next = this.#headOfSoundPage(previous, end) ?? this.#checkEach(previous, end)
      if ('kind' in next) return next
      previous = next
    }
    return null
  }

  #headOfSoundPage(start: Head, end: number): Head | null {
    const [preimages, stored] = (firstRow(this.#page, start.seq, end) ?? []).map((text) =>
      String(text).split(SEPARATOR),
    )
    // Rows come in order, so a full page has no gap.
    if (preimages?.length !== end - start.seq || stored?.length !== preimages.length) return null
    let previous: Head | null = start
    for (const [index, preimage] of preimages.entries()) {
      previous = headIfSound(preimage, stored[index] ?? '', previous)
      if (previous === null) return null
    }
    return previous
  }

  #checkEach(start: Head, end: number): Head | ChainFault {
    let previous = start
    for (const row of allRows(this.#records, start.seq, end)) {
      const record = recordFrom(row)
      const fault = chainFaultOf(previous, record, sha256Hex)
      if (fault !== null) return fault
      previous = headOf(record)
    }
    return previous.seq < end ? missingFault(previous.seq + 1) : previous
  }
}

/** Never occurs raw in canonical JSON, nor in a field that may be hashed. */
const SEPARATOR = '\u001e'

/**
 * What is hashed of each event of a page, and what is stored of it: hash, time of recording and bytes of the payload;
 * -1 where a field is empty, which hashes like an absent one. Two values for a page: bringing two for each event from
 * SQLite to JavaScript takes longer than hashing it.
 */
const PAGE_SQL = `
SELECT
  group_concat(concat_ws('|', prev_hash, ts, id, type, schema_version, ifnull(source, ''), ifnull(trace_id, ''),
    ifnull(dedupe_key, ''), payload), char(30)),
  group_concat(concat_ws('|', hash, recorded_at,
    iif(source IS '' OR trace_id IS '' OR dedupe_key IS '', -1, octet_length(payload))), char(30))
FROM events WHERE seq > ? AND seq <= ?`

/** The event as the next head, or null for anything unusual. */
const headIfSound = (preimage: string, stored: string, previous: Head): Head | null => {
  if (!preimage.startsWith(previous.hash) || preimage.charAt(previous.hash.length) !== '|') return null
  const sum = sha256Hex(preimage)
  const [storedHash, recordedAt = '', payloadBytes] = stored.split('|')
  if (storedHash !== sum || recordedAt < previous.recordedAt || !isTimestamp(recordedAt)) return null
  // If a field held a bar, the payload would not begin behind the eighth.
  BEFORE_PAYLOAD.lastIndex = 0
  if (!BEFORE_PAYLOAD.test(preimage)) return null
  const start = BEFORE_PAYLOAD.lastIndex
  const isWhole = (bytes: number): boolean => String(bytes) === payloadBytes
  if (!isWhole(preimage.length - start) && !isWhole(Buffer.byteLength(preimage.slice(start)))) return null
  return { seq: previous.seq + 1, hash: sum, recordedAt }
}

const FIELD = '[^|\\u0000-\\u001f\\u007f]'

/** The previous hash, four fields that are never empty, three that may be absent. */
const BEFORE_PAYLOAD = new RegExp(`[0-9a-f]*\\|(?:${FIELD}+\\|){4}(?:${FIELD}*\\|){3}`, 'y')

const PAGE = 250
/** Short enough that no thread is left alone with much at the end. */
const SLICE_EVENTS = 10_000

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')
