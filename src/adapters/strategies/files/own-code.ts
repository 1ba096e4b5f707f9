import { StrategyError } from '../../../core/strategies/strategy.ts'
import { cutOff, type OwnProgramOptions } from '../../own-program.ts'
import { checkedAnswer } from './answer-schemas.ts'
import type { CodeHost, CodeHostListener } from './code-host.ts'
import type { AnswerOf, CodeAnswer, Kind, RequestOf } from './messages.ts'

/**
 * A file of the user in a thread or a process of its own, which ends if it takes too long: a loop without an end cannot
 * be stopped in the thread that it blocks.
 */
export class OwnCode {
  readonly #host: CodeHost
  readonly #options: OwnProgramOptions
  #end: string | null = null
  #waiting: ((answer: CodeAnswer) => void) | null = null
  #queue: Promise<unknown> = Promise.resolve()
  #isLoaded = false

  constructor(options: OwnProgramOptions, start: (listener: CodeHostListener) => CodeHost) {
    this.#options = options
    this.#host = start({
      onAnswer: (answer) => this.#waiting?.(answer),
      onEnd: (reason) => this.#lose(reason),
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
    this.#lose('it is closed')
    await this.#host.end()
  }

  get #msMax(): number {
    return this.#isLoaded ? this.#options.answerMsMax : this.#options.loadMsMax
  }

  #lose(reason: string): void {
    if (this.#end !== null) return
    this.#end = reason
    this.#waiting?.({ status: 'error', message: reason })
    this.#host.end().catch(() => undefined)
  }

  #askOne<Of extends Kind>(kind: Of, request: RequestOf<Of>): Promise<AnswerOf<Of>> {
    if (this.#end !== null) return Promise.reject(new StrategyError(this.#end))
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#lose(noAnswerIn(this.#msMax)), this.#msMax)
      this.#waiting = (answer) => {
        clearTimeout(timer)
        this.#waiting = null
        this.#isLoaded = true
        resolve(answered(kind, answer))
      }
      this.#host.post({ kind, request })
    })
  }
}

/** Error of code that does not return. */
export const noAnswerIn = (ms: number): string =>
  `no answer in ${ms / 1000} seconds: does it loop without an end?`

const answered = async <Of extends Kind>(kind: Of, answer: CodeAnswer): Promise<AnswerOf<Of>> =>
  checkedAnswer(kind, answerIn(answer))

const answerIn = (answer: CodeAnswer): unknown => {
  if (answer.status === 'error') throw new StrategyError(answer.message)
  return answer.answer
}
