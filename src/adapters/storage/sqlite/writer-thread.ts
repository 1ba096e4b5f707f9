import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { follows, type Batch } from './batch.ts'
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
  switch (request.kind) {
    case 'append':
      return append(request.batch)
    case 'snapshot':
      return attempt(({ writer }) => {
        writer.savePiece(request.piece)
        return { status: 'done' }
      })
    case 'close':
      // Nothing was written: there is nothing to leave in order.
      return connection === null ? { status: 'done' } : attempt(({ db }) => checkpoint(db))
  }
}

const append = (...batches: readonly [Batch, ...Batch[]]): WriterAnswer =>
  attempt(({ writer }) => writer.append(...batches))

const attempt = (work: (connected: Connection) => WriterAnswer): WriterAnswer => {
  try {
    connection ??= open()
    return work(connection)
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

/** Leaves everything in one file and an empty journal, unless others use the log: then they or the next writer will. */
const checkpoint = (db: Database): WriterAnswer => {
  db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return { status: 'done' }
}

/** What came while the disk was busy is stored together: one wait for the disk, whoever asked. */
const performAll = (requests: readonly WriterRequest[], tell: (answer: WriterAnswer) => void): void => {
  for (let next = 0; next < requests.length;) {
    const [first, ...others] = batchesFrom(requests, next)
    const size = 1 + others.length
    const together = first === undefined || size === 1 ? null : append(first, ...others)
    for (const [index, request] of requests.slice(next, next + size).entries()) {
      // One of them is wrong, and nothing of any was stored: each by itself finds out which.
      if (together === null || together.status === 'refused') tell(perform(request))
      else if (together.status === 'unavailable' && index > 0) tell(performBehind(request))
      else tell(together)
    }
    next += size
  }
}

/** Behind a batch that failed with it on board: the disk knows whether it was stored after all. */
const performBehind = (request: WriterRequest): WriterAnswer =>
  attempt(({ writer }) =>
    request.kind === 'append' && writer.holds(request.batch) ? { status: 'appended' } : perform(request),
  )

/** The batches from here on that follow each other; none if something else is asked. */
const batchesFrom = (requests: readonly WriterRequest[], from: number): readonly Batch[] => {
  const batches: Batch[] = []
  for (const request of requests.slice(from)) {
    const last = batches.at(-1)
    if (request.kind !== 'append' || (last !== undefined && !follows(request.batch, last))) break
    batches.push(request.batch)
  }
  return batches
}

parentPort?.on('message', (first: WriterRequest) => {
  const requests = [first]
  for (;;) {
    const next = parentPort === null ? undefined : receiveMessageOnPort(parentPort)
    if (next === undefined) break
    requests.push(next.message as WriterRequest)
  }
  performAll(requests, (answer) => parentPort?.postMessage(answer, []))
  if (requests.some(({ kind }) => kind === 'close')) parentPort?.close()
})
