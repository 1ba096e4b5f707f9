import { Worker } from 'node:worker_threads'
import { threadFile } from '../../helping-threads.ts'

export interface CheckpointThreadData {
  readonly path: string
}

/** `frames`: pages that stood in the journal. Null: the disk would not; whoever writes will meet the same trouble. */
export interface CheckpointAnswer {
  readonly frames: number | null
}

export type CheckpointRequest = 'checkpoint' | 'close'

/**
 * Copies the journal to the database beside the writer, so that few commits have to wait for it. Only a help: a writer
 * whose journal grows faster than that copies it itself.
 */
export class Checkpointer {
  readonly #path: string
  #thread: Worker | null = null
  #ended: Promise<void> | null = null
  #isLost = false
  #isBusy = false
  #appends = 0
  #appendsBetween = APPENDS_BETWEEN_AT_FIRST

  constructor(path: string) {
    this.#path = path
  }

  /** Called after each append. */
  note(): void {
    this.#appends += 1
    if (this.#appends < this.#appendsBetween || this.#isBusy || this.#isLost) return
    this.#appends = 0
    this.#isBusy = true
    this.#thread ??= this.#start()
    this.#thread.postMessage('checkpoint' satisfies CheckpointRequest, [])
  }

  /** Before the writer, which leaves everything in one file if nobody else has it open. */
  async close(): Promise<void> {
    this.#isLost = true
    // Somebody waits for its end.
    this.#thread?.ref()
    this.#thread?.postMessage('close' satisfies CheckpointRequest, [])
    await this.#ended
  }

  #start(): Worker {
    const thread = new Worker(THREAD_FILE, {
      workerData: { path: this.#path } satisfies CheckpointThreadData,
    })
    thread.on('message', ({ frames }: CheckpointAnswer) => {
      this.#isBusy = false
      if (frames !== null) this.#appendsBetween = nextPause(this.#appendsBetween, frames)
    })
    // Without it nothing is lost: the writer copies its journal itself.
    thread.on('error', () => {
      this.#isLost = true
    })
    this.#ended = new Promise((resolve) => {
      thread.on('exit', () => {
        this.#isLost = true
        this.#thread = null
        resolve()
      })
    })
    thread.unref()
    return thread
  }
}

/** As many appends as fill the journal to a half of what the writer lets it grow to. */
export const nextPause = (appendsBetween: number, frames: number): number =>
  Math.min(
    APPENDS_BETWEEN_MAX,
    Math.max(1, Math.round((appendsBetween * FRAMES_WANTED) / Math.max(1, frames))),
  )

const APPENDS_BETWEEN_AT_FIRST = 16
const APPENDS_BETWEEN_MAX = 128
const FRAMES_WANTED = 256

const THREAD_FILE = threadFile('./checkpoint-thread.ts', import.meta.url)
