import { parentPort, workerData } from 'node:worker_threads'
import { standBack } from '../../helping-threads.ts'
import type { CheckpointAnswer, CheckpointRequest, CheckpointThreadData } from './wal-checkpointer.ts'
import { connect, firstRow, isSqliteError, prepareRows } from './database.ts'

standBack()

const { path } = workerData as CheckpointThreadData
const db = connect(path, 'write')
// Passive: waits for nobody, and nobody for it.
const checkpoint = prepareRows(db, 'PRAGMA wal_checkpoint(PASSIVE)')

/** The journal begins anew only after all of it was copied: what was written meanwhile is copied, too. */
const copyJournal = (): number => {
  let frames = 0
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const [, inJournal, copied] = firstRow(checkpoint) as [number, number, number]
    frames = inJournal
    if (copied === inJournal) break
  }
  return frames
}

const ATTEMPTS_MAX = 3

const answerOf = (): CheckpointAnswer => {
  try {
    return { frames: copyJournal() }
  } catch (error) {
    if (!isSqliteError(error)) throw error
    // Nothing counts as copied, and the journal stays until it is.
    return { frames: null }
  }
}

parentPort?.on('message', (request: CheckpointRequest) => {
  if (request === 'checkpoint') return parentPort?.postMessage(answerOf(), [])
  db.close()
  return parentPort?.close()
})
