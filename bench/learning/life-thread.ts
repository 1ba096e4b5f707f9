import { parentPort } from 'node:worker_threads'
import { live, type LifePlan } from './life.ts'

/** Runs one life after the other, each on request. */
const port = parentPort
if (port === null) throw new Error('this runs as a thread')

port.on('message', (plan: LifePlan) => {
  port.postMessage(live(plan), [])
})
