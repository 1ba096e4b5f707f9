import { beginRun, createBarMemory } from '../adapters/history/bar-files/bar-memory.ts'
import { forbidSignals } from '../adapters/strategies/files/forbid-signals.ts'
import type { InsideOptions } from '../adapters/strategies/files/inside-strategies.ts'
import type { EnvironmentVariables } from '../core/config/environment.ts'
import type { Configuration } from '../core/config/schema.ts'
import { DEFAULT_CONFIGURATION } from '../core/config/validate.ts'
import type { Stamped } from '../core/log/event.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { runBacktest, type BacktestFolders } from './backtest.ts'
import type { RunAnswer, RunOrder, RunResult } from './run-child.ts'

/** Code of a process that runs backtests for `RunProcesses`, one at a time, and ends with its parent. */

const PROGRESS_MS = 200

/** Number of calls between two readings of the clock. Progress is reported with every bar. */
const PROGRESS_CALLS = 64

/** Interval of the messages that code of the user still returns. */
const ALIVE_MS = 100

/** Number of events in a message. */
const EVENTS_MAX = 1000

/** Cache for the bars that the runs of a sweep share: half a year of minutes, about 40 MB. */
const memory = createBarMemory(250_000)

/** Translations of the user's files, which all runs of a sweep share. */
const translations = new Map<string, string>()

const answer = (message: RunAnswer): void => {
  // If the parent is gone, no reader needs the answer, and this process ends.
  process.send?.(message, undefined, undefined, (error) => {
    if (error !== null) process.exit()
  })
}

const resultOf = async (order: RunOrder): Promise<RunResult> => {
  const { home, version, settings, task, trials, isInside, fileCopy, sendsEvents } = order
  // Only a run from the log needs more than it is given: where the log is, and how to open it.
  await using log = task.isFromLog ? await openLog(order) : null
  const configuration: Configuration = { ...(log?.configuration ?? DEFAULT_CONFIGURATION), ...settings }
  const leftOut: string[] = []
  const events = createEventSender()
  const request = {
    ...task,
    trials,
    onError: (message: string) => void leftOut.push(message),
    onProgress: createProgressSender(),
    ...(sendsEvents ? { onEvents: events.add } : {}),
  }
  beginRun(memory)
  const place = { home, version, log: log?.events ?? null, memory, fileCopy }
  const report = await (isInside ? runInside : runBacktest)(configuration, request, place)
  events.send()
  return { report, leftOut }
}

/** Runs a strategy of the user in this thread, and tells the parent that its code returns. */
const runInside: typeof runBacktest = async (configuration, request, place) => {
  forbidSignals()
  let sentMs = performance.now()
  const onReturn = (): void => {
    const nowMs = performance.now()
    if (nowMs - sentMs < ALIVE_MS) return
    sentMs = nowMs
    answer({ kind: 'alive' })
  }
  const inside: InsideOptions & BacktestFolders['inside'] = {
    onReturn,
    translations,
    onState: (state) => answer({ kind: 'own-code', state }),
  }
  // The code of the user has also returned while this process waits for a file.
  const timer = setInterval(onReturn, ALIVE_MS)
  try {
    return await runBacktest(configuration, request, { ...place, inside })
  } finally {
    clearInterval(timer)
  }
}

const createProgressSender = (): ((done: number, total: number, bars: number) => void) => {
  let sentMs = 0
  let calls = 0
  let passed = 0
  return (done, total, bars) => {
    calls += 1
    passed += bars
    if (calls % PROGRESS_CALLS !== 0 || performance.now() - sentMs < PROGRESS_MS) return
    sentMs = performance.now()
    answer({ kind: 'progress', done, total, bars: passed })
    passed = 0
  }
}

const createEventSender = () => {
  let held: Stamped[] = []
  const send = (): void => {
    if (held.length > 0) answer({ kind: 'events', events: held })
    held = []
  }
  return {
    add: (events: readonly Stamped[]): void => {
      held.push(...events)
      if (held.length >= EVENTS_MAX) send()
    },
    send,
  }
}

/** The log of the home. Its modules are loaded only here: they hold native code, which a confined process cannot load. */
const openLog = async ({ home, version, variables }: RunOrder) => {
  const configuration = await configurationOf(home, variables)
  const { openSession, storeExists } = await import('./store.ts')
  const { environmentOf } = await import('./environment.ts')
  const session = storeExists(home, configuration)
    ? await openSession(environmentOf(home, variables, version), configuration)
    : null
  return {
    configuration,
    events: session?.log ?? null,
    [Symbol.asyncDispose]: async () => session?.[Symbol.asyncDispose](),
  }
}

const configurationOf = async (home: string, variables: EnvironmentVariables): Promise<Configuration> => {
  const { openConfigurationStore } = await import('../adapters/platform/config-file/configuration-store.ts')
  const opened = await openConfigurationStore({ home, env: variables })
  if (opened.status === 'invalid') throw new Failure('config.invalid', opened.problems.join('\n'))
  return opened.store.current()
}

process.on('message', (order: RunOrder) => {
  resultOf(order).then(
    (result) => answer({ kind: 'done', ...result }),
    (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error)
      const [code, advice] =
        error instanceof Failure ? [error.code, error.advice] : (['internal.error', null] as const)
      answer({ kind: 'failed', code, message, advice })
    },
  )
})
process.on('disconnect', () => process.exit())
