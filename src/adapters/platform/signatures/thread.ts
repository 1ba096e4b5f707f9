import { Worker } from 'node:worker_threads'
import type { SignedText } from '../../../ports/signatures.ts'
import { threadFile } from '../../helping-threads.ts'

/** A thread that checks slices, one after the other. */
export interface VerifyThread {
  /** Rejects when the thread is lost; nothing is known about the slice then. */
  check(items: readonly SignedText[]): Promise<readonly number[]>
  end(): Promise<void>
}

export const startThread = (onLost: (error: Error) => void): VerifyThread => {
  const worker = new Worker(THREAD_FILE)
  const waiting: Waiting[] = []
  let gone: Error | null = null
  const go = (error: Error): void => {
    gone = error
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  const lose = (error: Error): void => {
    if (gone !== null) return
    go(error)
    onLost(error)
  }
  worker.on('message', (bad: readonly number[]) => waiting.shift()?.resolve(bad))
  worker.on('error', (error) => lose(error instanceof Error ? error : new Error(String(error))))
  worker.on('exit', (code) => lose(new Error(`a verifying thread ended with ${code}`)))
  // An idle thread keeps no process alive; a caller who waits does.
  worker.unref()
  return {
    check: async (items) => {
      if (gone !== null) throw gone
      const answer = new Promise<readonly number[]>((resolve, reject) => waiting.push({ resolve, reject }))
      worker.ref()
      worker.postMessage(items, [])
      try {
        return await answer
      } finally {
        // Whoever ends it waits for that.
        if (waiting.length === 0 && gone === null) worker.unref()
      }
    },
    end: async () => {
      go(new Error('the verifying threads are closed'))
      await worker.terminate()
    },
  }
}

interface Waiting {
  readonly resolve: (bad: readonly number[]) => void
  readonly reject: (error: Error) => void
}

const THREAD_FILE = threadFile('./verify-thread.ts', import.meta.url)
