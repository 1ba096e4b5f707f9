import { StrategyError } from '../../../core/strategies/strategy.ts'
import { cutOff, type OwnCodeOptions, type OwnProgramOptions } from '../../own-program.ts'
import { checkedAnswer } from './answer-schemas.ts'
import type { CodeHost, CodeHostListener } from './code-host.ts'
import type { AnswerOf, CodeAnswer, CodeSubject, Kind, RequestOf } from './messages.ts'
import { ProcessHost } from './process-host.ts'
import { ThreadHost } from './thread-host.ts'

/**
 * A file of the user in a thread or a process of its own, which ends if it takes too long: a loop without an end cannot
 * be stopped in the thread that it blocks.
 */
export class OwnCode<Host extends CodeHost = CodeHost> {
  protected readonly host: Host
  readonly #options: OwnProgramOptions
  #end: string | null = null
  #waiting: ((answer: CodeAnswer) => void) | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #isLoaded = false

  constructor(options: OwnProgramOptions, start: (listener: CodeHostListener) => Host) {
    this.#options = options
    this.host = start({
      onAnswer: (answer) => this.#waiting?.(answer),
      onEnd: (reason) => this.lose(reason),
      onOutput: cutOff(options.onOutput),
    })
  }

  /** Asks one question at a time, in the order of the calls. */
  ask<Of extends Kind>(kind: Of, request: RequestOf<Of>): Promise<AnswerOf<Of>> {
    const asked = this.#queue.then(() => this.#askOne(kind, request))
    this.#queue = asked.catch(() => undefined)
    return asked
  }

  async close(): Promise<void> {
    this.lose('it is closed')
    await this.host.end()
  }

  /** Why it does not answer any more; null while it does. */
  protected get lost(): string | null {
    return this.#end
  }

  protected get msMax(): number {
    return this.#isLoaded ? this.#options.answerMsMax : this.#options.loadMsMax
  }

  protected get tooLate(): string {
    return `no answer in ${this.msMax / 1000} seconds: does it loop without an end?`
  }

  protected lose(reason: string): void {
    if (this.#end !== null) return
    this.#end = reason
    this.#waiting?.({ status: 'error', message: reason })
    this.host.end().catch(() => undefined)
  }

  #askOne<Of extends Kind>(kind: Of, request: RequestOf<Of>): Promise<AnswerOf<Of>> {
    if (this.#end !== null) return Promise.reject(new StrategyError(this.#end))
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.lose(this.tooLate), this.msMax)
      this.#waiting = (answer) => {
        clearTimeout(timer)
        this.#waiting = null
        this.#isLoaded = true
        resolve(answered(kind, answer))
      }
      this.host.post({ kind, request })
    })
  }
}

/** In a process for a service, which must be safe from what the code does, and in a thread for a backtest. */
export const startedCode = (subject: CodeSubject, options: OwnCodeOptions): OwnCode =>
  options.blocks
    ? new BlockingOwnCode(subject, options)
    : new OwnCode(options, (listener) => new ProcessHost(subject, listener))

/** In a thread, whose answers a backtest waits for. */
export class BlockingOwnCode extends OwnCode<ThreadHost> {
  constructor(subject: CodeSubject, options: OwnProgramOptions) {
    super(options, (listener) => new ThreadHost(subject, listener))
  }

  /**
   * Asks, and this thread does nothing else until there is an answer. Never while another answer is awaited. Throws a
   * `NoAnswerError` where there is none: `whyNoAnswer` finds out more.
   */
  askNow<Of extends Kind>(kind: Of, request: RequestOf<Of>): AnswerOf<Of> {
    if (this.lost !== null) throw new StrategyError(this.lost)
    this.host.post({ kind, request })
    const answer = this.host.receiveNow(this.msMax)
    if (answer === null) throw new NoAnswerError()
    return answerIn(answer) as AnswerOf<Of>
  }

  async whyNoAnswer(): Promise<StrategyError> {
    await this.host.hasReported()
    this.lose(this.tooLate)
    return new StrategyError(this.lost ?? this.tooLate)
  }
}

/** The thread did not answer in time, or ended. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

const answered = async <Of extends Kind>(kind: Of, answer: CodeAnswer): Promise<AnswerOf<Of>> =>
  checkedAnswer(kind, answerIn(answer))

const answerIn = (answer: CodeAnswer): unknown => {
  if (answer.status === 'error') throw new StrategyError(answer.message)
  return answer.answer
}
