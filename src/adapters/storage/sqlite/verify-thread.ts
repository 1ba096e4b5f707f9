import { parentPort, workerData } from 'node:worker_threads'
import { connect, unavailable } from './database.ts'
import { SliceVerifier, type Slice } from './verify-slice.ts'
import type { VerifyAnswer, VerifyThreadData } from './verify.ts'

const { path, stopped } = workerData as VerifyThreadData

const db = connect(path, 'read')
const verifier = new SliceVerifier(db)

const answer = (message: VerifyAnswer): void => parentPort?.postMessage(message, [])

const verify = (slice: Slice): VerifyAnswer => {
  try {
    const fault = verifier.verify(slice, (checked) => {
      answer({ status: 'checked', checked })
      if (Atomics.load(stopped, 0) === 1) throw new Error('nobody waits for it any more')
    })
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
