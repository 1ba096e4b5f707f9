import { statSync } from 'node:fs'
import { connect, firstRow, isDamage, isSqliteError, prepareRows } from './database.ts'

/** Which files a path names, so that it shows when it names others: see `filesFault`. */
export interface DatabaseFiles {
  readonly path: string
  readonly database: FileId | null
  readonly journal: FileId | null
}

/** Device and inode: the same as long as it is the same file. */
type FileId = string

/** As they are now. A connection keeps the files that it has opened, whatever happens to their names. */
export const filesAt = (path: string): DatabaseFiles => ({
  path,
  database: fileAt(path),
  journal: fileAt(`${path}-wal`),
})

/**
 * What is written goes to the files that were opened. If they were deleted, moved or exchanged meanwhile, nobody will
 * find it there: null while the names still name them. Two looks at a folder take some twenty microseconds.
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
 * Notices that somebody wrote over the database, as `cp` does: the file is the same, and what it holds is not. Between two
 * copies of the journal into it, nobody writes to it, so it is looked into only when it has changed. Open connections go
 * on with the pages that they know; a new one reads the file.
 */
export class OverwriteGuard {
  readonly #path: string
  #seen: FileState | null
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(path: string) {
    this.#path = path
    this.#seen = stateAt(path)
  }

  /** `atOnce`: a read or a write has failed, so it is looked into whatever that costs. */
  fault({ atOnce = false } = {}): string | null {
    const now = stateAt(this.#path)
    const before = this.#seen
    if (now === null || before === null || (now.size === before.size && now.mtime === before.mtime))
      return null
    // It never shrinks: events are not deleted, and nobody packs it.
    const isOverwritten = now.size < before.size || this.#holdsOthers(atOnce)
    if (isOverwritten === true) return `${this.#path} ${OVERWRITTEN}`
    // Not known while the file cannot be opened: the next look tries again.
    if (isOverwritten === false) this.#seen = now
    return null
  }

  /** While somebody reads for long, every commit may copy a part of the journal: looking each time would cost too much. */
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

/** Whether events are missing, by a sample: some from everywhere, most of the newest. Null if it cannot be told now. */
const holdsOthers = (path: string): boolean | null => {
  try {
    const db = connect(path, 'read')
    try {
      const head = Number(firstRow(prepareRows(db, 'SELECT coalesce(max(seq), 0) FROM events'))?.[0] ?? 0)
      const seqs = sampleOf(head)
      const find = prepareRows(
        db,
        'SELECT count(*), count(after.seq) FROM events LEFT JOIN events AS after ON after.seq = events.seq + 1 AND after.prev_hash = events.hash WHERE events.seq IN (SELECT value FROM json_each(?))',
      )
      const [found, linked] = firstRow(find, JSON.stringify(seqs)) ?? [0, 0]
      // More, if another process has appended since: then the head has a successor as well.
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
