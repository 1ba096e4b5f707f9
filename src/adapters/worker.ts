import { parentPort, Worker, workerData } from 'node:worker_threads'

/**
 * A worker thread that answers requests one at a time, in the order of the calls. It starts with the first request. A
 * thread that dies rejects everything that waits for it and is replaced by the next request.
 */
export class WorkerThread<Request, Answer> {
  readonly #file: URL
  readonly #data: unknown
  #running: Running<Answer> | null = null
  #closed = false

  /**
   * @param source the code of the thread, beside the module that starts it; built, both are JavaScript
   * @param startedBy `import.meta.url` of that module
   */
  constructor(source: `./${string}-thread.ts`, startedBy: string, data?: unknown) {
    this.#file = new URL(startedBy.endsWith('.ts') ? source : source.replace(/\.ts$/, '.js'), startedBy)
    this.#data = data
  }

  request(request: Request): Promise<Answer> {
    if (this.#closed) return Promise.reject(new Error('the worker thread is closed'))
    this.#running ??= this.#start()
    const { worker, waiting } = this.#running
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      // An idle thread does not keep the process alive; a caller who waits does.
      worker.ref()
      worker.postMessage(request, [])
    })
  }

  /** Resolves after everything that was asked before is answered and the thread has ended. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#running === null) return
    const { worker, ended } = this.#running
    worker.ref()
    // Asked to end, not terminated: terminating a thread inside SQLite ends the whole process.
    worker.postMessage(CLOSE, [])
    await ended
  }

  #start(): Running<Answer> {
    const worker = new Worker(this.#file, { workerData: this.#data })
    const waiting: Waiting<Answer>[] = []
    let cause: unknown
    worker.on('message', (answer: Answer) => {
      waiting.shift()?.resolve(answer)
      if (waiting.length === 0 && !this.#closed) worker.unref()
    })
    worker.on('error', (error) => {
      cause = error
    })
    const ended = new Promise<void>((resolve) => {
      worker.on('exit', (code) => {
        this.#running = null
        const error = new WorkerLostError(code, cause)
        for (const { reject } of waiting.splice(0)) reject(error)
        resolve()
      })
    })
    return { worker, waiting, ended }
  }
}

/** The thread ended before it answered. Whether it did the work is not known. */
export class WorkerLostError extends Error {
  override readonly name = 'WorkerLostError'
  constructor(code: number, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : `exit code ${code}`
    super(`a worker thread ended: ${reason}`, { cause })
  }
}

/** The thread's side: answers each request until the owner closes it. What it throws ends the thread. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the messages
export const answerRequests = <Request>(
  answer: (request: Request) => unknown,
  onClose: () => void = () => undefined,
): void => {
  const port = parentPort
  if (port === null) throw new Error('this module is the code of a worker thread')
  port.on('message', (request: Request | typeof CLOSE) => {
    if (request !== CLOSE) return port.postMessage(answer(request), [])
    onClose()
    port.close()
  })
}

/** The thread's side: what the owner passed as `data`. */
export const threadData: unknown = workerData

const CLOSE = 'close the thread'

interface Running<Answer> {
  readonly worker: Worker
  readonly waiting: Waiting<Answer>[]
  readonly ended: Promise<void>
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}
