import { answerRequests, threadData } from '../../worker.ts'
import { connect, isConstraintError, isSqliteError, unavailable, type Database } from './database.ts'
import { SnapshotWriter } from './snapshots.ts'
import { EventWriter, type WriterAnswer, type WriterRequest } from './writer.ts'

const path = threadData as string

interface Connection {
  readonly db: Database
  readonly events: EventWriter
  readonly snapshots: SnapshotWriter
}

let connection: Connection | null = null

const open = (): Connection => {
  const db = connect(path, 'write')
  return { db, events: new EventWriter(db), snapshots: new SnapshotWriter(db) }
}

const perform = (request: WriterRequest): WriterAnswer => {
  switch (request.kind) {
    case 'append':
      return attempt(({ events }) => events.append(request.records, request.expected, request.leaderToken))
    case 'lead':
      return attempt(({ events }) => events.lead(request.claim))
    case 'snapshot':
      return attempt(({ snapshots }) => snapshots.save(request.part))
  }
}

const attempt = (work: (connected: Connection) => WriterAnswer): WriterAnswer => {
  try {
    connection ??= open()
    return work(connection)
  } catch (error) {
    return recoverFrom(error)
  }
}

/**
 * A failed write is not repeated as if it had worked: after a failed sync it is not known what the disk holds. The
 * connection is dropped, and the next one reads what is there.
 */
const recoverFrom = (error: unknown): WriterAnswer => {
  const isLost = isSqliteError(error) && !isConstraintError(error)
  try {
    if (connection?.db.isTransaction === true) connection.db.exec('ROLLBACK')
    if (isLost) connection?.db.close()
  } catch (next) {
    // The first error is the reason; this one only says that the connection is of no more use.
    if (!isSqliteError(next)) throw next
  }
  if (isLost) connection = null
  return { status: isLost ? 'unavailable' : 'refused', message: unavailable('write to', path, error).message }
}

/** Leaves everything in one file and an empty journal, unless others use the log: then they or the next writer will. */
const close = (): void => {
  try {
    connection?.db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
    connection?.db.close()
  } catch (error) {
    // Everything is durable in the journal: the next connection copies it.
    if (!isSqliteError(error)) throw error
  }
}

answerRequests(perform, close)
