import { parentPort, workerData } from 'node:worker_threads'
import { connect, isConstraintError, isSqliteError, unavailable, type Database } from './database.ts'
import { EventWriter } from './event-writer.ts'
import type { WriterAnswer, WriterRequest, WriterThreadData } from './writer.ts'

const { path } = workerData as WriterThreadData

interface Connection {
  readonly db: Database
  readonly writer: EventWriter
}

let connection: Connection | null = null

const open = (): Connection => {
  const db = connect(path, 'write')
  return { db, writer: new EventWriter(db) }
}

const perform = (request: WriterRequest): WriterAnswer => {
  const { kind } = request
  try {
    if (kind === 'close') {
      if (connection !== null) checkpoint(connection.db)
      return { status: 'done' }
    }
    connection ??= open()
    if (request.kind === 'append') return connection.writer.append(request.batch)
    connection.writer.saveSnapshot(request.snapshot)
    return { status: 'done' }
  } catch (error) {
    return recoverFrom(error)
  }
}

/**
 * A failed write is never tried again as if it had worked: after a failed sync nobody knows what the disk holds.
 * The connection is given up, and the next one reads from the disk what is there.
 */
const recoverFrom = (error: unknown): WriterAnswer => {
  const lost = isSqliteError(error) && !isConstraintError(error)
  try {
    connection?.writer.rollBack()
    if (lost) connection?.db.close()
  } catch (next) {
    // The first error is the reason; this one only says that there is no more to be done with the connection.
    if (!isSqliteError(next)) throw next
  }
  if (lost) connection = null
  const { message } = unavailable('write to', path, error)
  return { status: lost ? 'unavailable' : 'refused', message }
}

/** Leaves one file behind, unless others are using the log: then they or the next writer will. */
const checkpoint = (db: Database): void => {
  db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}

parentPort?.on('message', (request: WriterRequest) => {
  parentPort?.postMessage(perform(request), [])
  if (request.kind === 'close') parentPort?.close()
})
