import { parentPort, workerData } from 'node:worker_threads'
import { answerRequests } from './answer-requests.ts'
import type { CodeSubject } from './messages.ts'

/** Runs a producer of the user in a backtest: whatever its code does, it does to this thread. */
parentPort?.on(
  'message',
  answerRequests(workerData as CodeSubject, (answer) => parentPort?.postMessage(answer, [])),
)
