import type { Worker, WorkerOptions } from 'node:worker_threads'
import {
  TEXT_SEPARATOR,
  type SharedSigningQueue,
  type SigningOrder,
  type SigningThreadData,
} from './signing-board.ts'

/** A second thread that takes signing work from a board as fast as it can. */
export interface SigningHelper {
  /** Starts the thread on first use. The returned wait ends when the helper leaves no claimed text unsigned, or died. */
  offer(board: SharedSigningQueue): () => Promise<void>
  close(): Promise<void>
}

export const createSigningHelper = (
  startWorker: (options: WorkerOptions) => Worker,
  seed: Uint8Array,
  onFault: (error: Error) => void,
): SigningHelper => {
  const openOrders = new Map<number, () => void>()
  let worker: Worker | null = null
  let ended = false
  let lastId = 0

  const start = (): Worker => {
    const workerData: SigningThreadData = { seed }
    const started = startWorker({ workerData, name: 'signing' })
    let fault: Error | null = null
    started.unref()
    started.on('message', (id: number) => settle(id))
    started.on('error', (error: unknown) => {
      fault = error instanceof Error ? error : new Error(String(error))
    })
    started.on('exit', (code) => {
      const wasClosed = ended
      ended = true
      for (const id of openOrders.keys()) settle(id)
      if (!wasClosed) onFault(fault ?? new Error(`the signing thread ended with code ${code}`))
    })
    return started
  }

  const settle = (id: number): void => {
    openOrders.get(id)?.()
    openOrders.delete(id)
    // Whoever closes waits for the end of the thread: a late answer must not let the process end before.
    if (openOrders.size === 0 && !ended) worker?.unref()
  }

  return {
    offer: ({ texts, shared }) => {
      if (ended) return () => Promise.resolve()
      worker ??= start()
      const active = worker
      lastId += 1
      const id = lastId
      const settled = new Promise<void>((resolve) => openOrders.set(id, resolve))
      const order: SigningOrder = { id, joinedTexts: texts.join(TEXT_SEPARATOR), shared }
      active.postMessage(order, [])
      return async () => {
        // An idle thread does not keep the process alive, but one that holds our texts must.
        if (openOrders.has(id)) active.ref()
        await settled
      }
    },
    close: async () => {
      ended = true
      await worker?.terminate()
    },
  }
}
