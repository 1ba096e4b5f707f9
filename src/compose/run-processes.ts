import { fork, type ChildProcess } from 'node:child_process'
import {
  TaskFailedError,
  type BacktestTask,
  type TaskOptions,
  type TaskReport,
  type TaskRunner,
} from '../backtest/sweep/task.ts'
import { ownProgramEnvironment } from '../adapters/own-program.ts'
import type { EnvironmentVariables } from '../core/config/environment.ts'
import type { RunSettings } from './run-settings.ts'

/** Request to a process of `backtest-process.ts`, one run at a time. */
export interface RunOrder {
  readonly home: string
  readonly version: string
  readonly settings: RunSettings
  readonly task: BacktestTask
  /** Those of the caller, for a run that opens the store. They are no environment: code of the user could read that. */
  readonly variables: EnvironmentVariables
}

/** Answers of the process: any number of progress messages, then one of the others. */
export type RunAnswer =
  | { readonly kind: 'progress'; readonly done: number; readonly total: number }
  | { readonly kind: 'done'; readonly report: TaskReport }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

export interface RunProcessesOptions {
  readonly home: string
  readonly version: string
  /** Maximum number of processes. */
  readonly width: number
  readonly settings: () => RunSettings
}

/**
 * Backtests in child processes. A run that computes for minutes, uses up all memory or is cancelled leaves the caller
 * unaffected, unlike a thread, which could be inside SQLite. Each process executes one run after the other.
 */
export class RunProcesses implements TaskRunner {
  readonly width: number
  readonly #options: RunProcessesOptions
  readonly #idle: ChildProcess[] = []
  readonly #all = new Set<ChildProcess>()
  readonly #waiting: (() => void)[] = []
  #busy = 0
  #isClosed = false

  constructor(options: RunProcessesOptions) {
    this.#options = options
    this.width = options.width
  }

  /** Runs a task. Settings that come with the task replace those of this place. */
  async run(
    task: BacktestTask,
    options: TaskOptions & Partial<Pick<RunOrder, 'settings'>>,
  ): Promise<TaskReport> {
    while (this.#busy >= this.width) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy += 1
    try {
      // Checked inside the queue, so that a run that is cancelled while it waits lets the next one start.
      options.signal.throwIfAborted()
      if (this.#isClosed) throw new Error('the processes of backtests are closed')
      return await this.#runIn(this.#idle.pop() ?? this.#start(), task, options)
    } finally {
      this.#busy -= 1
      this.#waiting.shift()?.()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(
      [...this.#all].map(
        (child) =>
          new Promise<void>((resolve) => {
            child.once('exit', () => resolve())
            child.kill('SIGKILL')
          }),
      ),
    )
  }

  #start(): ChildProcess {
    const child = fork(new URL('./backtest-process.ts', import.meta.url), [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: ownProgramEnvironment(process.env),
    })
    this.#all.add(child)
    child.once('exit', () => {
      this.#all.delete(child)
      const index = this.#idle.indexOf(child)
      if (index !== -1) this.#idle.splice(index, 1)
    })
    return child
  }

  #runIn(
    child: ChildProcess,
    task: BacktestTask,
    { signal, onProgress, settings = this.#options.settings() }: Parameters<RunProcesses['run']>[1],
  ): Promise<TaskReport> {
    const { home, version } = this.#options
    return new Promise((resolve, reject) => {
      const end = (): void => {
        child.removeAllListeners('message')
        child.removeListener('exit', onExit)
        child.removeListener('error', onError)
        signal.removeEventListener('abort', onAbort)
      }
      const onAbort = (): void => {
        end()
        // The process computes and may not read a message for long, so it is killed.
        child.kill('SIGKILL')
        reject(signal.reason as Error)
      }
      const onExit = (code: number | null, killedBy: string | null): void => {
        end()
        reject(new ProcessLostError(killedBy ?? `exit code ${code}`))
      }
      const onError = (error: Error): void => {
        end()
        child.kill('SIGKILL')
        reject(new ProcessLostError(error.message))
      }
      child.on('message', (answer: RunAnswer) => {
        if (answer.kind === 'progress') return onProgress(answer.done, answer.total)
        end()
        this.#idle.push(child)
        if (answer.kind === 'done') resolve(answer.report)
        else reject(new TaskFailedError(answer.code, answer.message))
      })
      child.once('exit', onExit)
      child.once('error', onError)
      signal.addEventListener('abort', onAbort, { once: true })
      const variables = task.isFromLog ? process.env : {}
      const order: RunOrder = { home, version, settings, task, variables }
      child.send(order)
    })
  }
}

/** The process ended before it answered: memory ran out, or it was killed. */
class ProcessLostError extends Error {
  override readonly name = 'ProcessLostError'
  constructor(reason: string) {
    super(`the process of a backtest ended: ${reason}`)
  }
}
