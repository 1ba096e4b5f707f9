import { Worker } from 'node:worker_threads'
import { StoreUnavailableError, type AppendResult } from '../../../ports/event-log.ts'
import { threadFile } from '../../helping-threads.ts'
import { blocksOf, type Batch } from './batch.ts'
import type { SnapshotPiece } from './snapshots.ts'

export interface WriterThreadData {
  readonly path: string
}

export type WriterRequest =
  | { readonly kind: 'append'; readonly batch: Batch }
  | { readonly kind: 'snapshot'; readonly piece: SnapshotPiece }
  | { readonly kind: 'close' }

export type WriterAnswer =
  | AppendResult
  | { readonly status: 'done' }
  /** The disk, the file or the lock: it may work later. */
  | { readonly status: 'unavailable'; readonly message: string }
  /** What was asked is wrong: it will never work. */
  | { readonly status: 'refused'; readonly message: string }

/**
 * The only one who writes, in a thread of its own: waiting for the disk never stops the caller's other work.
 * Requests are answered in the order in which they came. The thread is started by the first one.
 */
export class Writer {
  readonly #path: string
  #thread: Thread | null = null

  constructor(path: string) {
    this.#path = path
  }

  async append(batch: Batch): Promise<AppendResult> {
    const answer = await this.#ask({ kind: 'append', batch })
    if (answer.status === 'done') throw new Error('the writing thread answered another question')
    return answer
  }

  async savePiece(piece: SnapshotPiece): Promise<void> {
    await this.#ask({ kind: 'snapshot', piece })
  }

  /** After everything that was asked before. */
  async close(): Promise<void> {
    const ended = this.#thread?.ended
    if (ended === undefined) return
    await this.#ask({ kind: 'close' })
    await ended
  }

  async #ask(request: WriterRequest): Promise<AppendResult | { readonly status: 'done' }> {
    // A thread that was lost is replaced: the new one reads from disk what is there.
    this.#thread ??= startThread(this.#path, () => {
      this.#thread = null
    })
    const answer = await this.#thread.ask(request)
    switch (answer.status) {
      case 'unavailable':
        throw new StoreUnavailableError(answer.message)
      case 'refused':
        throw new Error(answer.message)
      case 'appended':
      case 'head-moved':
      case 'done':
        return answer
    }
  }
}

interface Thread {
  ask(request: WriterRequest): Promise<WriterAnswer>
  readonly ended: Promise<void>
}

interface Waiting {
  readonly resolve: (answer: WriterAnswer) => void
  readonly reject: (error: Error) => void
}

const startThread = (path: string, onEnded: () => void): Thread => {
  const worker = new Worker(THREAD_FILE, { workerData: { path } satisfies WriterThreadData })
  const waiting: Waiting[] = []
  let closing = false
  let cause: unknown
  // An idle thread keeps no process alive; somebody who waits for an answer or for its end does.
  worker.unref()
  worker.on('message', (answer: WriterAnswer) => {
    waiting.shift()?.resolve(answer)
    if (waiting.length === 0 && !closing) worker.unref()
  })
  worker.on('error', (error) => {
    cause = error
  })
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      onEnded()
      // Whether a waiting append was stored is not known: the head on disk tells.
      const error = new StoreUnavailableError(`the writing thread ended with ${code}`, { cause })
      for (const { reject } of waiting.splice(0)) reject(error)
      resolve()
    })
  })
  return {
    ended,
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        closing ||= request.kind === 'close'
        worker.ref()
        worker.postMessage(request, request.kind === 'append' ? blocksOf(request.batch) : [])
      }),
  }
}

const THREAD_FILE = threadFile('./writer-thread.ts', import.meta.url)
