import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { ownProgramEnvironment } from '../../own-program.ts'
import { MEMORY_MB_MAX, OUT_OF_MEMORY, type CodeHost, type CodeHostListener } from './code-host.ts'
import type { CodeAnswer, CodeRequest, CodeSubject } from './messages.ts'

export interface ThreadData {
  readonly subject: CodeSubject
  /** Requests come in here, and answers go out. */
  readonly port: MessagePort
  /** Counts answers, so that an owner may block until there is one. */
  readonly answered: SharedArrayBuffer
}

/** How often a thread that is waited for is looked at, and how long one that has ended takes to say why. */
const LOOK_MS = 100
const END_MS_MAX = 5000

/** For backtests, which wait for each answer: its code can do what this process can. */
export class ThreadHost implements CodeHost {
  readonly #worker: Worker
  readonly #channel = new MessageChannel()
  readonly #answered = new Int32Array(new SharedArrayBuffer(4))

  constructor(subject: CodeSubject, { onAnswer, onEnd, onOutput }: CodeHostListener) {
    const { port1, port2 } = this.#channel
    const data: ThreadData = { subject, port: port2, answered: this.#answered.buffer }
    this.#worker = new Worker(new URL('./own-code-thread.ts', import.meta.url), {
      workerData: data,
      transferList: [port2],
      env: ownProgramEnvironment(process.env),
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
      stdout: true,
      stderr: true,
    })
    // A thread that nobody waits for does not keep the process alive.
    this.#worker.unref()
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.setEncoding('utf8').on('data', onOutput)
    port1.on('message', onAnswer)
    port1.unref()
    this.#worker.on('error', (error) => onEnd(reasonOf(error)))
    this.#worker.on('exit', () => onEnd('its thread ended'))
  }

  post(request: CodeRequest): void {
    this.#channel.port1.postMessage(request, [])
  }

  /** The answer to what was posted, and this thread does nothing else until then; null without one. */
  receiveNow(msMax: number): CodeAnswer | null {
    const untilMs = performance.now() + msMax
    for (;;) {
      // Read before the look: an answer in between ends the wait at once.
      const before = Atomics.load(this.#answered, 0)
      const received = receiveMessageOnPort(this.#channel.port1)
      if (received !== undefined) return received.message as CodeAnswer
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0 || this.#hasStopped()) return null
      Atomics.wait(this.#answered, 0, before, Math.min(leftMs, LOOK_MS))
    }
  }

  /** What becomes of a thread is reported to this one only while it does not wait. */
  async hasReported(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#worker.once('exit', () => resolve())
    })
    await Promise.race([ended, sleep(this.#hasStopped() ? END_MS_MAX : LOOK_MS)])
  }

  async end(): Promise<void> {
    this.#channel.port1.close()
    await this.#worker.terminate()
  }

  /** Its times are negative from then on. Should that change one day, an end is noticed when the time is over. */
  #hasStopped(): boolean {
    return this.#worker.performance.eventLoopUtilization().idle < 0
  }
}

const reasonOf = (error: Error): string =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? OUT_OF_MEMORY
    : `its thread failed: ${error.message}`
