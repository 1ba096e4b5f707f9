import { answerRequests, threadData } from '../../worker.ts'
import {
  connect,
  firstRow,
  isConstraintError,
  isSqliteError,
  prepareRows,
  unavailable,
  type Database,
} from './database.ts'
import { rebuildDerived } from './derived.ts'
import { filesAt, filesFault, OverwriteGuard, type DatabaseFiles } from './database-files.ts'
import { HeadFile } from './head-file.ts'
import { SnapshotWriter } from './snapshots.ts'
import { EventWriter, type WriterAnswer, type WriterRequest, type WriterResults } from './writer.ts'

/** The files that the main thread has opened. This thread must not write to others. */
const opened = threadData as DatabaseFiles
const { path } = opened

interface Connection {
  readonly db: Database
  readonly files: DatabaseFiles
  readonly guard: OverwriteGuard
  readonly head: HeadFile
  readonly events: EventWriter
  readonly snapshots: SnapshotWriter
}

let connection: Connection | null = null

const open = (): Connection => {
  const db = connect(path, 'write')
  const hashAt = prepareRows(db, 'SELECT hash FROM events WHERE seq = ?')
  const head = new HeadFile(path, (seq) => (firstRow(hashAt, seq)?.[0] ?? null) as string | null)
  // The journal exists once the connection has been used.
  firstRow(hashAt, 1)
  const files = { ...filesAt(path), ...withoutNull(opened) }
  return {
    db,
    files,
    guard: new OverwriteGuard(path),
    head,
    events: new EventWriter(db),
    snapshots: new SnapshotWriter(db),
  }
}

const withoutNull = ({ database, journal }: DatabaseFiles): Partial<DatabaseFiles> => ({
  ...(database === null ? {} : { database }),
  ...(journal === null ? {} : { journal }),
})

const perform = (request: WriterRequest): WriterAnswer => {
  const appended = request.kind === 'append' ? request.records : null
  try {
    connection ??= open()
    const { files, guard, head } = connection
    if (appended !== null) head.prepare()
    const result = resultOf(connection, request)
    // Checked after the commit and before its acknowledgement: events in deleted files are not stored.
    const fault = filesFault(files) ?? guard.fault()
    if (fault !== null) return { status: 'lost', message: fault }
    const last = appended?.at(-1)
    const isStored = typeof result === 'object' && result?.status === 'appended'
    if (isStored && last !== undefined) head.write(last)
    return { status: 'done', result }
  } catch (error) {
    return recoverFrom(error)
  }
}

const resultOf = (
  { db, events, snapshots }: Connection,
  request: WriterRequest,
): WriterResults[keyof WriterResults] => {
  switch (request.kind) {
    case 'append':
      return events.append(request.records, request.expected, request.leaderToken)
    case 'lead':
      return events.lead(request.claim)
    case 'snapshot':
      return snapshots.save(request.part)
    case 'rebuild':
      return rebuildDerived(db)
  }
}

/**
 * A failed write is not repeated as if it had worked: after a failed sync the content of the disk is unknown. The
 * connection is dropped, and the next one reads the files.
 */
const recoverFrom = (error: unknown): WriterAnswer => {
  const isLost = isSqliteError(error) && !isConstraintError(error)
  // A write that failed on an overwritten file is not repeated.
  const fault = isLost ? (connection?.guard.fault({ atOnce: true }) ?? null) : null
  try {
    if (connection?.db.isTransaction === true) connection.db.exec('ROLLBACK')
    if (isLost) connection?.db.close()
    if (isLost) connection?.head.close()
  } catch (next) {
    // The first error is the reason. This one only shows that the connection is unusable.
    if (!isSqliteError(next)) throw next
  }
  if (isLost) connection = null
  if (fault !== null) return { status: 'lost', message: fault }
  const mayWorkLater = isLost || isFileError(error)
  return {
    status: mayWorkLater ? 'unavailable' : 'refused',
    message: unavailable('write to', path, error).message,
  }
}

/** True for an error of the head file: its permissions, or the disk. */
const isFileError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof error.syscall === 'string'

/**
 * Leaves everything in one file and an empty journal, unless others use the log: then they or the next writer do it.
 */
const close = (): void => {
  try {
    syncHead()
    clearInterval(syncing)
    connection?.db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
    connection?.db.close()
  } catch (error) {
    // Everything is durable in the journal. The next connection copies it.
    if (!isSqliteError(error)) throw error
  }
}

/** Not called at every commit, because it costs as much as the commit itself: see HeadFile. */
const syncHead = (): void => {
  try {
    connection?.head.sync()
  } catch (error) {
    // The next commit opens the file again and reports its error.
    connection?.head.close()
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

const SYNC_HEAD_EVERY_MS = 1000
const syncing = setInterval(syncHead, SYNC_HEAD_EVERY_MS)
syncing.unref()

answerRequests(perform, close)
