import { statSync } from 'node:fs'

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
