import { Worker } from 'node:worker_threads'

export interface RawCommits {
  readonly path: string
  readonly everyMs: number
  readonly forMs: number
}

/** How long each took, in a thread that does nothing else. */
export const rawCommits = (wanted: RawCommits): Promise<readonly number[]> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./raw-commits-thread.ts', import.meta.url), { workerData: wanted })
    thread.once('message', resolve)
    thread.once('error', reject)
  })
