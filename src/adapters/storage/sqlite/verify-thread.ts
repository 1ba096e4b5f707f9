import { parentPort, workerData } from 'node:worker_threads'
import { connect, unavailable } from './database.ts'
import { SliceVerifier, type Slice } from './verify-slice.ts'
import type { VerifyAnswer, VerifyThreadData } from './verify.ts'

const { path } = workerData as VerifyThreadData

const verifier = new SliceVerifier(connect(path, 'read'))

const answer = (message: VerifyAnswer): void => parentPort?.postMessage(message, [])

const verify = (slice: Slice): VerifyAnswer => {
  try {
    const fault = verifier.verify(slice, (checked) => answer({ status: 'checked', checked }))
    return { status: 'done', fault }
  } catch (error) {
    return { status: 'failed', message: unavailable('verify', path, error).message }
  }
}

parentPort?.on('message', (slice: Slice) => answer(verify(slice)))
