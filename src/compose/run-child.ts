import { fork, type ChildProcess } from 'node:child_process'
import { cutOff, ownProgramEnvironment } from '../adapters/own-program.ts'
import { noAnswerIn } from '../adapters/strategies/files/own-code.ts'
import { confinedTo, type ReadablePlaces } from '../adapters/strategies/files/permissions.ts'
import { endOfProcess, ERRORS_KEPT } from '../adapters/strategies/files/process-host.ts'
import type { BacktestReport } from '../backtest/report.ts'
import { TaskFailedError, type BacktestTask } from '../backtest/sweep/task.ts'
import type { EnvironmentVariables } from '../core/config/environment.ts'
import type { Stamped } from '../core/log/event.ts'
import type { RunSettings } from './run-settings.ts'
import { ANSWER_MS_MAX, LOAD_MS_MAX } from './strategies.ts'

/** Request to a process of `backtest-process.ts`, one run at a time. */
export interface RunOrder {
  readonly home: string
  readonly version: string
  readonly settings: RunSettings
  readonly task: BacktestTask
  readonly trials?: number | undefined
  /** Variables of the caller, for a run that opens the store. They are no environment: code of the user could read that. */
  readonly variables: EnvironmentVariables
  /** True if the strategy is a file of the user that runs inside the process. */
  readonly isInside: boolean
  /** See `BacktestFolders`. */
  readonly fileCopy: string | null | undefined
  readonly sendsEvents: boolean
}

/** Messages of the process: any number of the first four kinds, then one of the others. */
export type RunAnswer =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number; readonly bars: number }
  | { readonly kind: 'events'; readonly events: readonly Stamped[] }
  /** Sent when code of the user starts to load, when it is loaded, and when the run needs it no more. */
  | { readonly kind: 'own-code'; readonly state: 'loads' | 'runs' | 'ended' }
  /** Sent several times a second while code of the user returns from its calls. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'done'; readonly report: BacktestReport; readonly leftOut: readonly string[] }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly message: string
      readonly advice: string | null
    }

export type RunResult = Omit<Extract<RunAnswer, { readonly kind: 'done' }>, 'kind'>

export interface RunListener {
  readonly signal: AbortSignal
  /** `bars` is the number of bars processed since the last call. */
  readonly onProgress: (done: number, total: number, bars: number) => void
  readonly onEvents?: ((events: readonly Stamped[]) => void) | undefined
}

export interface ChildOptions {
  /** Places that the process may read. Null: all that the user of the process may read and write. */
  readonly places: ReadablePlaces | null
  readonly limits: RunLimits
}

/** Limits of a process that runs code of the user. */
export interface RunLimits {
  readonly loadMsMax: number
  readonly answerMsMax: number
  /** Heap of the process, with the bars and the account of the run. */
  readonly memoryMbMax: number
}

export const RUN_LIMITS: RunLimits = {
  loadMsMax: LOAD_MS_MAX,
  answerMsMax: ANSWER_MS_MAX,
  memoryMbMax: 2048,
}

/** Interval between two checks of a process that runs code of the user. */
const CHECK_MS = 100

/** A process of `backtest-process.ts`. */
export class RunChild {
  readonly #child: ChildProcess
  readonly #options: ChildOptions
  #onOutput: (text: string) => void = () => undefined
  #errors = ''
  #isUsable = true

  constructor(options: ChildOptions) {
    this.#options = options
    const { places, limits } = options
    const program = new URL('./backtest-process.ts', import.meta.url)
    const serialization = 'advanced'
    if (places === null) {
      const env = ownProgramEnvironment(process.env)
      this.#child = fork(program, [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env, serialization })
      return
    }
    const { flags, env } = confinedTo(places)
    const execArgv = [...flags, `--max-old-space-size=${limits.memoryMbMax}`]
    this.#child = fork(program, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env,
      serialization,
      execArgv,
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#onOutput(text))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-ERRORS_KEPT)
      this.#onOutput(text)
    })
  }

  /** Calls this when the process has ended. */
  onEnd(listener: () => void): void {
    this.#child.once('exit', listener)
  }

  /** False once the process was killed or has ended. */
  get isUsable(): boolean {
    return this.#isUsable
  }

  kill(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return resolve()
      this.#child.once('exit', () => resolve())
      this.#stop()
    })
  }

  #stop(): void {
    this.#isUsable = false
    this.#child.kill('SIGKILL')
  }

  /** Runs one task. Rejects with `TaskFailedError` if the run or its strategy fails. */
  run(order: RunOrder, { signal, onProgress, onEvents }: RunListener): Promise<RunResult> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    const child = this.#child
    const { limits } = this.#options
    this.#onOutput = cutOff((text) => void process.stderr.write(text))
    return new Promise((resolve, reject) => {
      const failed = (reason: string): TaskFailedError =>
        new TaskFailedError('strategy.failed', `${order.task.strategy}: ${reason}`)
      const end = (): void => {
        watch.end()
        child.removeListener('message', onMessage)
        child.removeListener('close', onClose)
        child.removeListener('error', onError)
        signal.removeEventListener('abort', onAbort)
      }
      // The process computes and may not read a message for long, so it is killed.
      const stop = (reason: Error): void => {
        end()
        this.#stop()
        reject(reason)
      }
      const watch = new SilenceWatch((ms) => stop(failed(noAnswerIn(ms))))
      const onAbort = (): void => stop(signal.reason as Error)
      const onError = (error: Error): void => stop(new ProcessLostError(error.message))
      // After its output was read.
      const onClose = (code: number | null, killedBy: string | null): void => {
        const isOfCode = watch.isOn
        this.#isUsable = false
        end()
        if (isOfCode) reject(failed(endOfProcess(this.#errors, code, limits.memoryMbMax)))
        else reject(new ProcessLostError(killedBy ?? `exit code ${code}`))
      }
      const onMessage = (answer: RunAnswer): void => {
        watch.restart()
        switch (answer.kind) {
          case 'alive':
            return
          case 'progress':
            return onProgress(answer.done, answer.total, answer.bars)
          case 'events':
            return onEvents?.(answer.events)
          case 'own-code':
            return watch.limit(limitIn(answer.state, limits))
          case 'done':
            end()
            return resolve({ report: answer.report, leftOut: answer.leftOut })
          case 'failed':
            end()
            return reject(new TaskFailedError(answer.code, answer.message, answer.advice))
        }
      }
      child.on('message', onMessage).once('close', onClose).once('error', onError)
      signal.addEventListener('abort', onAbort, { once: true })
      child.send(order)
    })
  }
}

const limitIn = (
  state: Extract<RunAnswer, { readonly kind: 'own-code' }>['state'],
  { loadMsMax, answerMsMax }: RunLimits,
): number | null => {
  if (state === 'ended') return null
  return state === 'loads' ? loadMsMax : answerMsMax
}

/**
 * Reports a process that is silent for too long. Time is counted in checks, so that a machine that slept, or a busy
 * caller, ends nothing.
 */
class SilenceWatch {
  readonly #onSilent: (ms: number) => void
  #timer: NodeJS.Timeout | null = null
  #msMax = 0
  #checks = 0

  constructor(onSilent: (ms: number) => void) {
    this.#onSilent = onSilent
  }

  get isOn(): boolean {
    return this.#timer !== null
  }

  /** Sets the longest silence; null ends the watch. */
  limit(msMax: number | null): void {
    this.end()
    if (msMax === null) return
    this.#msMax = msMax
    this.#checks = 0
    this.#timer = setInterval(() => {
      this.#checks += 1
      if (this.#checks * CHECK_MS > this.#msMax) this.#onSilent(this.#msMax)
    }, CHECK_MS)
  }

  /** Begins the time without a message anew. */
  restart(): void {
    this.#checks = 0
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}

/** The process ended before it answered: memory ran out, or it was killed. */
class ProcessLostError extends Error {
  override readonly name = 'ProcessLostError'
  constructor(reason: string) {
    super(`the process of a backtest ended: ${reason}`)
  }
}
