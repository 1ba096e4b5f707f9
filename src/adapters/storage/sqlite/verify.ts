import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import {
  StoreUnavailableError,
  type ChainFault,
  type ChainReport,
  type VerifyRange,
} from '../../../ports/event-log.ts'
import { threadFile } from '../../helping-threads.ts'
import type { Slice } from './verify-slice.ts'

export interface VerifyThreadData {
  readonly path: string
  /** Its first byte is set when nobody waits for the answer any more. */
  readonly stopped: Uint8Array
}

export type VerifyAnswer =
  | { readonly status: 'checked'; readonly checked: number }
  | { readonly status: 'done'; readonly fault: ChainFault | null }
  | { readonly status: 'failed'; readonly message: string }

export interface VerifyOptions {
  /** Ends it when the log is closed. */
  readonly signal: AbortSignal
  readonly threads?: number
  readonly sliceEvents?: number
}

/** Below this, starting threads takes longer than verifying. */
export const VERIFY_HERE_MAX = 2000

/** Verifies a long range on every core. Threads take slices from the front; the first fault of all is reported. */
export const verifyInThreads = async (
  path: string,
  { after, upTo, onProgress }: VerifyRange,
  { signal, threads = availableParallelism(), sliceEvents = SLICE_EVENTS }: VerifyOptions,
): Promise<ChainReport> => {
  let next = after
  let checked = 0
  let first: ChainFault | null = null
  const takeSlice = (): Slice | null => {
    // Slices behind a fault need no look: it comes before anything in them.
    if (next >= upTo || first !== null) return null
    const slice = { after: next, upTo: Math.min(next + sliceEvents, upTo) }
    next = slice.upTo
    return slice
  }
  const work = async (): Promise<void> => {
    const thread = startThread(path, signal)
    try {
      for (let slice = takeSlice(); slice !== null; slice = takeSlice()) {
        const fault = await thread.verify(slice, (count) => {
          checked += count
          onProgress?.(checked)
        })
        if (fault !== null && (first === null || fault.seq < first.seq)) first = fault
      }
    } finally {
      await thread.end()
    }
  }
  const count = Math.min(threads, Math.ceil((upTo - after) / sliceEvents))
  const ends = await Promise.allSettled(Array.from({ length: count }, work))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return reportOf(first, { after, upTo })
}

export const reportOf = (fault: ChainFault | null, { after, upTo }: Slice): ChainReport =>
  fault === null
    ? { ok: true, checked: Math.max(0, upTo - after) }
    : { ok: false, checked: Math.max(0, fault.seq - after - 1), ...fault }

/** Long enough that handing it out costs nothing, short enough that no thread is left alone with much at the end. */
const SLICE_EVENTS = 10_000

interface VerifyThread {
  verify(slice: Slice, onChecked: (count: number) => void): Promise<ChainFault | null>
  end(): Promise<void>
}

const ignore = (): void => undefined

const startThread = (path: string, signal: AbortSignal): VerifyThread => {
  const stopped = new Uint8Array(new SharedArrayBuffer(1))
  const worker = new Worker(THREAD_FILE, { workerData: { path, stopped } satisfies VerifyThreadData })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  let onAnswer: (answer: VerifyAnswer) => void = ignore
  worker.on('message', (answer: VerifyAnswer) => onAnswer(answer))
  const fail = (reason: string): void =>
    onAnswer({ status: 'failed', message: `cannot verify ${path}: ${reason}` })
  worker.on('error', (error) => fail(error instanceof Error ? error.message : String(error)))
  worker.on('exit', (code) => fail(`a thread ended with ${code}`))
  const stop = (): void => fail('the log is closed')
  signal.addEventListener('abort', stop)
  return {
    verify: (slice, onChecked) =>
      new Promise((resolve, reject) => {
        onAnswer = (answer) => {
          switch (answer.status) {
            case 'checked':
              return onChecked(answer.checked)
            case 'done':
              return resolve(answer.fault)
            case 'failed':
              return reject(new StoreUnavailableError(answer.message))
          }
        }
        if (signal.aborted) stop()
        else worker.postMessage(slice, [])
      }),
    end: async () => {
      signal.removeEventListener('abort', stop)
      // Asked to end, not terminated: a thread that is torn away from SQLite takes the process with it.
      Atomics.store(stopped, 0, 1)
      worker.postMessage(null, [])
      await ended
    },
  }
}

const THREAD_FILE = threadFile('./verify-thread.ts', import.meta.url)
