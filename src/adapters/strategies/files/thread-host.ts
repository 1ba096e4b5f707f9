import { Worker } from 'node:worker_threads'
import { ownProgramEnvironment } from '../../own-program.ts'
import { MEMORY_MB_MAX, outOfMemory, type CodeHost, type CodeHostListener } from './code-host.ts'
import type { CodeRequest, CodeSubject } from './messages.ts'

/** For producers in a backtest, which ends with the process of its run: its code can do what that process can. */
export class ThreadHost implements CodeHost {
  readonly #worker: Worker

  constructor(subject: CodeSubject, { onAnswer, onEnd, onOutput }: CodeHostListener) {
    this.#worker = new Worker(new URL('./own-code-thread.ts', import.meta.url), {
      workerData: subject,
      env: ownProgramEnvironment(process.env),
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
      stdout: true,
      stderr: true,
    })
    // A thread that nobody waits for does not keep the process alive.
    this.#worker.unref()
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.setEncoding('utf8').on('data', onOutput)
    this.#worker.on('message', onAnswer)
    this.#worker.on('error', (error) => onEnd(reasonOf(error)))
    this.#worker.on('exit', () => onEnd('its thread ended: it must not call process.exit'))
  }

  post(request: CodeRequest): void {
    this.#worker.postMessage(request, [])
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

const reasonOf = (error: Error): string =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? outOfMemory(MEMORY_MB_MAX)
    : `its thread failed: ${error.message}`
