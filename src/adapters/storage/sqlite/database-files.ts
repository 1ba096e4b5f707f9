import { statSync } from 'node:fs'
import { connect, firstRow, isDamage, isSqliteError, prepareRows } from './database.ts'
import { HEAD_SEQ } from './schema.ts'

/** The files that a path names, to detect when it names others: see `filesFault`. */
export interface DatabaseFiles {
  readonly path: string
  readonly database: FileId | null
  readonly journal: FileId | null
}

/** Device and inode: they stay the same as long as the file does. */
type FileId = string

/** The files as they are now. A connection keeps the files that it has opened, even if they are renamed. */
export const filesAt = (path: string): DatabaseFiles => ({
  path,
  database: fileAt(path),
  journal: fileAt(`${path}-wal`),
})

/**
 * Writes go to the opened files. If these were deleted, moved or replaced, later readers would not find the events.
 * Null while the names still lead to the opened files. Two lookups in a folder take about twenty microseconds.
 */
export const filesFault = ({ path, database, journal }: DatabaseFiles): string | null => {
  if (database !== null && fileAt(path) !== database) return `${path} ${DELETED}`
  if (journal !== null && fileAt(`${path}-wal`) !== journal) return `the journal ${path}-wal ${DELETED}`
  return null
}

const DELETED = 'was deleted, moved or exchanged while the service ran'

const fileAt = (path: string): FileId | null => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

/**
 * Detects that the database was overwritten, for example by `cp`: the file is the same, its content is not. Between two
 * checkpoints of the journal into it the file does not change, so its content is read only after a change. Open
 * connections go on with the pages in their cache; a new connection reads the file.
 */
export class OverwriteGuard {
  readonly #path: string
  #seen: FileState | null
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(path: string) {
    this.#path = path
    this.#seen = stateAt(path)
  }

  /** `atOnce`: a read or a write has failed, so the content is checked at any cost. */
  fault({ atOnce = false } = {}): string | null {
    const now = stateAt(this.#path)
    const before = this.#seen
    if (now === null || before === null || (now.size === before.size && now.mtime === before.mtime))
      return null
    // The file never shrinks: events are not deleted, and the database is never vacuumed.
    const isOverwritten = now.size < before.size || this.#holdsOthers(atOnce)
    if (isOverwritten === true) return `${this.#path} ${OVERWRITTEN}`
    // Unknown while the file cannot be opened. The next check tries again.
    if (isOverwritten === false) this.#seen = now
    return null
  }

  /** During a long read, every commit may copy a part of the journal. Checking each time would cost too much. */
  #holdsOthers(atOnce: boolean): boolean | null {
    const nowMs = performance.now()
    if (!atOnce && nowMs - this.#lookedMs < LOOK_INTO_EVERY_MS) return null
    this.#lookedMs = nowMs
    return holdsOthers(this.#path)
  }
}

const LOOK_INTO_EVERY_MS = 250

const OVERWRITTEN = 'was overwritten while the service ran'

interface FileState {
  readonly size: bigint
  readonly mtime: bigint
}

const stateAt = (path: string): FileState | null => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? null : { size: found.size, mtime: found.mtimeNs }
}

/**
 * Whether events are missing, by a sample: a few from everywhere, most of the newest. Null if that cannot be checked
 * now.
 */
const holdsOthers = (path: string): boolean | null => {
  try {
    const db = connect(path, 'read')
    try {
      const head = Number(firstRow(prepareRows(db, `SELECT coalesce((${HEAD_SEQ}), 0)`))?.[0] ?? 0)
      const seqs = sampleOf(head)
      const find = prepareRows(
        db,
        'SELECT count(*), count(after.seq) FROM events LEFT JOIN events AS after ON after.seq = events.seq + 1 AND after.prev_hash = events.hash WHERE events.seq IN (SELECT value FROM json_each(?))',
      )
      const [found, linked] = firstRow(find, JSON.stringify(seqs)) ?? [0, 0]
      // More links exist if another process has appended since: then the head has a successor as well.
      return found !== seqs.length || Number(linked) < seqs.filter((seq) => seq < head).length
    } finally {
      db.close()
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error
    return isDamage(error) ? true : null
  }
}

const SAMPLE = 64

const sampleOf = (head: number): readonly number[] => {
  const everywhere = Array.from({ length: SAMPLE }, (_, index) => 1 + Math.floor((head * index) / SAMPLE))
  const newest = Array.from({ length: SAMPLE }, (_, index) => head - Math.floor(2 ** (index / 2)) + 1)
  return [...new Set([...everywhere, ...newest])].filter((seq) => seq >= 1 && seq <= head)
}
