import { parentPort, workerData } from 'node:worker_threads'
import { standBack } from '../../helping-threads.ts'
import { connect, unavailable } from './database.ts'
import { SliceVerifier, type Slice } from './verify-slice.ts'
import type { VerifyAnswer, VerifyThreadData } from './verify.ts'

standBack()

const { path, stopped } = workerData as VerifyThreadData

const db = connect(path, 'read')
// Nothing is read twice, and what is little stays in the processor's cache.
db.exec('PRAGMA cache_size = -512')
const verifier = new SliceVerifier(db)

const TOLD_EVENTS = 5000

const answer = (message: VerifyAnswer): void => parentPort?.postMessage(message, [])

const verify = (slice: Slice): VerifyAnswer => {
  try {
    let untold = 0
    const fault = verifier.verify(slice, (checked) => {
      untold += checked
      // A message for every page would cost as much as a tenth of the work.
      if (untold >= TOLD_EVENTS) {
        answer({ status: 'checked', checked: untold })
        untold = 0
      }
      if (Atomics.load(stopped, 0) === 1) throw new Error('nobody waits for it any more')
    })
    if (untold > 0) answer({ status: 'checked', checked: untold })
    return { status: 'done', fault }
  } catch (error) {
    return { status: 'failed', message: unavailable('verify', path, error).message }
  }
}

/** The last message is null. */
parentPort?.on('message', (slice: Slice | null) => {
  if (slice !== null) return answer(verify(slice))
  db.close()
  parentPort?.close()
})
