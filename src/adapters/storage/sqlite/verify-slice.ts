import { hash } from 'node:crypto'
import { EMPTY_HEAD, headOf, type Head } from '../../../core/log/event.ts'
import { chainFaultOf, missingFault, type ChainFault } from '../../../ports/event-log.ts'
import { allRows, firstRow, prepareRows, type Database, type Statement } from './database.ts'
import { KnownNames } from './dictionary.ts'
import { passesAtOnce, PAGE_TO_PASS, type PageToPass } from './pass-page.ts'
import { RECORD_COLUMNS, recordFrom } from './rows.ts'
import { textOfMillis } from './time-text.ts'

export interface Slice {
  readonly after: number
  readonly upTo: number
}

/**
 * Verifies a part of the chain behind the stored hash at its start. Pages in which everything is right are passed
 * as a whole; a page with anything doubtful is looked at event by event, which tells the fault.
 */
export class SliceVerifier {
  readonly #headAt: Statement
  readonly #page: Statement
  readonly #events: Statement
  readonly #names: KnownNames

  constructor(db: Database) {
    this.#headAt = prepareRows(
      db,
      'SELECT seq, lower(hex(hash)), recorded_at + 0.0 FROM events WHERE seq = ?',
    )
    this.#page = prepareRows(db, PAGE_TO_PASS)
    this.#events = prepareRows(
      db,
      `SELECT ${RECORD_COLUMNS} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq`,
    )
    this.#names = new KnownNames(db)
  }

  /** The first fault, or null. */
  verify({ after, upTo }: Slice, onChecked: (count: number) => void = () => undefined): ChainFault | null {
    let previous = after === 0 ? EMPTY_HEAD : this.#head(after)
    if (previous === null) return missingFault(after)
    while (previous.seq < upTo) {
      const slice = { after: previous.seq, upTo: Math.min(previous.seq + PAGE, upTo) }
      const end = this.#verifyPage(slice, previous)
      if ('kind' in end) return end
      onChecked(slice.upTo - slice.after)
      previous = end
    }
    return null
  }

  #verifyPage(slice: Slice, previous: Head): Head | ChainFault {
    const page = firstRow(this.#page, slice.after, slice.upTo) as PageToPass | undefined
    const end = page === undefined ? null : passesAtOnce(page, previous, slice, hashBytes)
    return end ?? this.#verifyEvents(slice, previous)
  }

  #verifyEvents({ after, upTo }: Slice, start: Head): Head | ChainFault {
    let previous = start
    for (const row of allRows(this.#events, after, upTo)) {
      const record = recordFrom(row, this.#names.nodeName)
      const fault = chainFaultOf(previous, record, sha256Hex)
      if (fault !== null) return fault
      previous = headOf(record)
    }
    return previous.seq < upTo ? missingFault(previous.seq + 1) : previous
  }

  #head(seq: number): Head | null {
    const row = firstRow(this.#headAt, seq) as [number, string, number] | undefined
    return row === undefined ? null : { seq: row[0], hash: row[1], recordedAt: textOfMillis(row[2]) }
  }
}

/** A quarter of a megabyte, which stays in the processor's cache. */
const PAGE = 500

const sha256Hex = (text: string): string => hash('sha256', text, 'hex')
const hashBytes = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')
