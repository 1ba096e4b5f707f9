import { basename, join, resolve } from 'node:path'
import { foldersFor, type ReadablePlaces } from '../adapters/strategies/files/permissions.ts'
import {
  TaskFailedError,
  type BacktestTask,
  type TaskOptions,
  type TaskReport,
  type TaskRunner,
} from '../backtest/sweep/task.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import { fileOf } from './backtest.ts'
import { copyOf } from './file-copies.ts'
import { historyFolder } from './history.ts'
import { RUN_LIMITS, RunChild, type RunLimits, type RunListener, type RunResult } from './run-child.ts'
import type { RunSettings } from './run-settings.ts'
import { strategyCodeNamed } from './strategies.ts'

export interface RunProcessesOptions {
  readonly home: string
  readonly version: string
  /** Maximum number of processes. */
  readonly width: number
  readonly settings: () => RunSettings
  readonly limits?: RunLimits
  /** True if runs write nothing to the home, so that they neither make nor use copies of bar files. */
  readonly inMemory?: boolean
  /** True if the caller answers requests meanwhile, so that copies of bar files are made in the processes only. */
  readonly isService?: boolean
}

/** A task with what only the command line asks for. */
export interface CommandedRun {
  readonly task: BacktestTask
  readonly settings: RunSettings
  readonly trials?: number | undefined
}

/**
 * Backtests in child processes. A run that computes for minutes, uses up all memory or is cancelled leaves the caller
 * unaffected, unlike a thread, which could be inside SQLite. Each process executes one run after the other.
 *
 * A strategy in a file of the user runs inside such a process, so that `onBar` is a function call. The process is then
 * confined to the bars of the run and the folder of the file, it is watched from here, and it runs no other strategy.
 */
export class RunProcesses implements TaskRunner {
  readonly width: number
  readonly #options: RunProcessesOptions
  readonly #idle: Kept[] = []
  readonly #all = new Set<RunChild>()
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
    { settings = this.#options.settings(), ...listener }: TaskOptions & { readonly settings?: RunSettings },
  ): Promise<TaskReport> {
    const shown = (message: string): string => withoutPlaces(message, this.#options.home, settings)
    try {
      const { report, leftOut } = await this.runWhole({ task, settings }, listener)
      const left_out = leftOut.map(shown)
      if (report.bars > 0) return { ...report, left_out }
      const reason = ['no bars to trade on: the first 200 analysis bars only warm up', ...left_out].join('; ')
      throw new TaskFailedError('backtest.no_bars', reason)
    } catch (error) {
      throw error instanceof TaskFailedError ? new TaskFailedError(error.code, shown(error.message)) : error
    }
  }

  /** Runs a task and returns all of its result, also without bars. Messages name files as the run sees them. */
  async runWhole({ task, settings, trials }: CommandedRun, listener: RunListener): Promise<RunResult> {
    const { home, version, inMemory = false, isService = false } = this.#options
    while (this.#busy >= this.width) await new Promise<void>((resolved) => this.#waiting.push(resolved))
    this.#busy += 1
    try {
      // Checked inside the queue, so that a run that is cancelled while it waits lets the next one start.
      listener.signal.throwIfAborted()
      const places = await placesOf(task, settings, { home, inMemory, isService })
      if (this.#isClosed) throw new Error('the processes of backtests are closed')
      const kept = await this.#childFor(task.strategy, places?.readable ?? null)
      const order = {
        home,
        version,
        settings,
        task,
        trials,
        variables: task.isFromLog ? process.env : {},
        isInside: places !== null,
        fileCopy: places === null && !inMemory ? undefined : (places?.fileCopy ?? null),
        sendsEvents: listener.onEvents !== undefined,
      }
      return await kept.child.run(order, listener).finally(() => {
        if (kept.child.isUsable) this.#idle.push(kept)
      })
    } finally {
      this.#busy -= 1
      this.#waiting.shift()?.()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#all].map((child) => child.kill()))
  }

  /** An idle process with these permissions that ran no other code of the user, or a new one. */
  async #childFor(strategy: string, places: ReadablePlaces | null): Promise<Kept> {
    const key = places === null ? '' : JSON.stringify([strategy, places])
    const index = this.#idle.findIndex((kept) => kept.key === key)
    const [found] = index === -1 ? [] : this.#idle.splice(index, 1)
    if (found !== undefined) return found
    // Its place is needed: there are never more processes than may run.
    const other = this.#all.size < this.width ? undefined : this.#idle.pop()
    await other?.child.kill()
    const child = new RunChild({ places, limits: this.#options.limits ?? RUN_LIMITS })
    const kept = { child, key }
    this.#all.add(child)
    child.onEnd(() => {
      this.#all.delete(child)
      const at = this.#idle.indexOf(kept)
      if (at !== -1) this.#idle.splice(at, 1)
    })
    return kept
  }
}

interface Kept {
  readonly child: RunChild
  readonly key: string
}

/**
 * Places that a run of a user's file may read, and the copy of its bars, which its process cannot write. Null for any
 * other run, and for a run on the log: that process opens the store, so the code of the user runs in a process of its
 * own.
 */
const placesOf = async (
  task: BacktestTask,
  settings: RunSettings,
  { home, inMemory, isService }: Pick<RunProcessesOptions, 'home' | 'inMemory' | 'isService'>,
): Promise<InsidePlaces | null> => {
  const code = task.isFromLog ? null : await strategyCodeNamed(task.strategy, home)
  if (code === null) return null
  const folders = foldersFor(code.path)
  const data = historyFolder(home)
  if (task.data.length > 0) {
    const bars = [join(data, 'bars'), join(data, 'resampled')]
    return { readable: { folders: [...folders, ...bars], files: [] }, fileCopy: null }
  }
  const file = fileOf({ ...DEFAULT_CONFIGURATION, ...settings }, task, home)
  if (file === null) return { readable: { folders, files: [] }, fileCopy: null }
  const fileCopy = inMemory === true ? null : await copyOf(file, home, { makes: isService !== true })
  return { readable: { folders, files: [fileCopy ?? file.market.file] }, fileCopy }
}

interface InsidePlaces {
  readonly readable: ReadablePlaces
  readonly fileCopy: string | null
}

/** Message for callers of the service, who need not know where it lives and where it reads. */
const withoutPlaces = (message: string, home: string, { market }: RunSettings): string => {
  const file = basename(market.file)
  const shown = file === '' ? message : message.replaceAll(resolve(home, market.file), file)
  return shown.replaceAll(home, 'the home')
}
