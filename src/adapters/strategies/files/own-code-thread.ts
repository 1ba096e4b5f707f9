import { workerData } from 'node:worker_threads'
import { answerRequests } from './answer-requests.ts'
import type { CodeAnswer } from './messages.ts'
import type { ThreadData } from './thread-host.ts'

/** Runs a file of the user: whatever it does, it does to this thread. */
const { subject, port, answered } = workerData as ThreadData
const counter = new Int32Array(answered)

const send = (answer: CodeAnswer): void => {
  port.postMessage(answer, [])
  Atomics.add(counter, 0, 1)
  Atomics.notify(counter, 0)
}

// Whoever blocks for an answer sees no end of this thread.
process.on('exit', () =>
  send({ status: 'error', message: 'its thread ended: it must not call process.exit' }),
)

port.on('message', answerRequests(subject, send))
