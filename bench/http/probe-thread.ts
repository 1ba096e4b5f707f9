import { connect } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const { port, requests } = workerData as { readonly port: number; readonly requests: readonly string[] }

const PROBE_EVERY_MS = 20

const over = new AbortController()
parentPort?.once('message', () => over.abort())

/** Returns the slowest answer to a request that is repeated on one connection. */
const slowestOf = async (request: string, onFirst: () => void): Promise<number> => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let slowest = 0
  // The first one opens caches.
  for (let isFirst = true; !over.signal.aborted; isFirst = false) {
    const answered = once(socket, 'data')
    const beganMs = performance.now()
    socket.write(request)
    await answered
    if (isFirst) onFirst()
    else slowest = Math.max(slowest, performance.now() - beganMs)
    await sleep(PROBE_EVERY_MS)
  }
  socket.destroy()
  return slowest
}

let begun = 0
const onFirst = (): void => {
  begun += 1
  if (begun === requests.length) parentPort?.postMessage('begun', [])
}

parentPort?.postMessage(await Promise.all(requests.map((request) => slowestOf(request, onFirst))), [])
