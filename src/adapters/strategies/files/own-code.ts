import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { StrategyError } from '../../../core/strategies/strategy.ts'
import { cutOff, harmlessEnvironment, type OwnProgramOptions } from '../../own-program.ts'
import type { AnswerOf, Kind, RequestOf, ThreadAnswer, ThreadData, Translations } from './messages.ts'

const MEMORY_MB_MAX = 512
/** Interval at which a blocking caller checks the thread, and the time that an ended thread gets to report why. */
const LOOK_MS = 100
const END_MS_MAX = 5000

/**
 * A file of the user in a thread of its own, which is ended if it takes too long: an endless loop cannot be stopped in
 * the thread that it blocks.
 */
export class OwnCode {
  readonly #options: OwnProgramOptions
  readonly #worker: Worker
  readonly #channel = new MessageChannel()
  readonly #answered = new Int32Array(new SharedArrayBuffer(4))
  #end: string | null = null
  #waiting: ((answer: ThreadAnswer) => void) | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #isLoaded = false

  constructor(
    file: string,
    name: string,
    options: OwnProgramOptions,
    translations: Translations = new Map(),
  ) {
    this.#options = options
    const { port1, port2 } = this.#channel
    const data: ThreadData = { file, name, translations, port: port2, answered: this.#answered.buffer }
    this.#worker = new Worker(new URL('./own-code-thread.ts', import.meta.url), {
      workerData: data,
      transferList: [port2],
      env: harmlessEnvironment(process.env),
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
      stdout: true,
      stderr: true,
    })
    // An idle thread does not keep the process alive.
    this.#worker.unref()
    const onOutput = cutOff(options.onOutput)
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      stream.setEncoding('utf8').on('data', onOutput)
    port1.on('message', (answer: ThreadAnswer) => this.#waiting?.(answer))
    port1.unref()
    this.#worker.on('error', (error) => this.#lose(reasonOf(error)))
    this.#worker.on('exit', () => this.#lose('its thread ended'))
  }

  /** Asks one question at a time, in the order of the calls. */
  ask<Of extends Kind>(kind: Of, request: RequestOf<Of>): Promise<AnswerOf<Of>> {
    const asked = this.#queue.then(() => this.#askOne(kind, request))
    this.#queue = asked.catch(() => undefined)
    return asked
  }

  /**
   * Like `ask`, but blocks this thread until the answer arrives. Must not be called while another answer is awaited.
   * Throws a `NoAnswerError` if there is no answer: `whyNoAnswer` finds the reason.
   */
  askNow<Of extends Kind>(kind: Of, request: RequestOf<Of>): AnswerOf<Of> {
    if (this.#end !== null) throw new StrategyError(this.#end)
    const untilMs = performance.now() + this.#msMax()
    this.#channel.port1.postMessage({ kind, request }, [])
    for (;;) {
      // Read before the check: an answer in between ends the wait at once.
      const before = Atomics.load(this.#answered, 0)
      const received = receiveMessageOnPort(this.#channel.port1)
      if (received !== undefined) return answerIn(received.message as ThreadAnswer) as AnswerOf<Of>
      const leftMs = untilMs - performance.now()
      if (leftMs <= 0 || this.#hasStopped()) throw new NoAnswerError()
      Atomics.wait(this.#answered, 0, before, Math.min(leftMs, LOOK_MS))
    }
  }

  /** Reason why the thread did not answer. Events of the thread reach this one only while it does not block. */
  async whyNoAnswer(): Promise<StrategyError> {
    const ended = new Promise<void>((resolve) => {
      this.#worker.once('exit', () => resolve())
    })
    await Promise.race([ended, sleep(this.#hasStopped() ? END_MS_MAX : LOOK_MS)])
    this.#lose(this.#tooLate())
    return new StrategyError(this.#end ?? this.#tooLate())
  }

  async close(): Promise<void> {
    this.#lose('it is closed')
    await this.#worker.terminate()
  }

  #askOne<Of extends Kind>(kind: Of, request: RequestOf<Of>): Promise<AnswerOf<Of>> {
    if (this.#end !== null) return Promise.reject(new StrategyError(this.#end))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#lose(this.#tooLate()), this.#msMax())
      this.#waiting = (answer) => {
        clearTimeout(timer)
        this.#waiting = null
        this.#isLoaded = true
        if (answer.status === 'error') reject(new StrategyError(answer.message))
        else resolve(answer.answer as AnswerOf<Of>)
      }
      this.#channel.port1.postMessage({ kind, request }, [])
    })
  }

  #lose(reason: string): void {
    if (this.#end !== null) return
    this.#end = reason
    this.#waiting?.({ status: 'error', message: reason })
    this.#channel.port1.close()
    this.#worker.terminate().catch(() => undefined)
  }

  /**
   * The thread's times are negative once it has stopped. If that ever changes, the end is noticed at the time limit.
   */
  #hasStopped(): boolean {
    return this.#worker.performance.eventLoopUtilization().idle < 0
  }

  #msMax(): number {
    return this.#isLoaded ? this.#options.answerMsMax : this.#options.loadMsMax
  }

  #tooLate(): string {
    return `no answer in ${this.#msMax() / 1000} seconds: does it loop without an end?`
  }
}

/** The thread did not answer in time, or ended. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

const reasonOf = (error: Error): string =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? `out of memory: it may use ${MEMORY_MB_MAX} MB`
    : `its thread failed: ${error.message}`

const answerIn = (answer: ThreadAnswer): unknown => {
  if (answer.status === 'error') throw new StrategyError(answer.message)
  return answer.answer
}
