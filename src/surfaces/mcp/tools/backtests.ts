import { z } from 'zod'
import { hasEnded, type BacktestRuns, type RunWithResult } from '../../../backtest/runs/runs.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { backtestRequest, runView } from '../../backtest-wire.ts'
import { LIMITS_NOTE } from '../tool-result.ts'
import { failed, orError, tool, type ToolOutcome } from '../tool.ts'

/** A request over HTTP must end within 30 s. */
const WAIT_SECONDS_MAX = 20
/** Who does not ask for it does not wait for a long run: it is told the id at once. */
const WAIT_SECONDS = 1

const waiting = (fallback: number) =>
  z
    .int()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .default(fallback)
    .meta({ description: 'how long to wait for the result; it goes on without anybody waiting' })

const output = runView.extend({
  report: z
    .looseObject({})
    .nullable()
    .meta({ description: 'the figures, once it is done; days and trades are counted, not listed' }),
})

export const backtestTools = {
  run_backtest: tool('submit', {
    title: 'Run a backtest',
    advice:
      '`verdict` says in one sentence whether there is an edge; "no edge found" is a normal answer. One run is not ' +
      'corrected for the others you tried: the more ideas are tried, the more of them look good by chance.',
    input: backtestRequest.extend({ wait_seconds: waiting(WAIT_SECONDS) }),
    output: orError(output, ['backtest_refused', 'queue_full', 'scope_missing', 'author_mismatch']),
    author: () => null,
    call: async ({ input: { wait_seconds: seconds, ...request }, dependencies: { backtests } }) => {
      const submitted = await backtests.submit('backtest', request as JsonObject)
      switch (submitted.status) {
        case 'refused':
          return failed('backtest_refused', { detail: submitted.reason })
        case 'full':
          return failed('queue_full', { max: submitted.max })
        case 'accepted':
          return answerOf(backtests, submitted.run.id, seconds, 'written')
      }
    },
  }),
  get_backtest: tool('read', {
    title: 'A backtest',
    advice: LIMITS_NOTE,
    input: z.object({
      id: z.string().max(128).meta({ description: 'as run_backtest returned it' }),
      wait_seconds: waiting(0),
    }),
    output: orError(output, ['backtest_not_found']),
    call: ({ input: { id, wait_seconds: seconds }, dependencies: { backtests } }) =>
      answerOf(backtests, id, seconds, 'read'),
  }),
}

const answerOf = async (
  backtests: BacktestRuns,
  id: string,
  seconds: number,
  effect: 'read' | 'written',
): Promise<ToolOutcome> => {
  await ended(backtests, id, seconds * 1000)
  const run = await backtests.get(id)
  if (run?.kind !== 'backtest') return failed('backtest_not_found', { id })
  return { status: 'done', value: shortOf(run), effect }
}

/** Resolves when the run has ended, at the latest after this time. */
const ended = async (backtests: BacktestRuns, id: string, waitMs: number): Promise<void> => {
  if (waitMs === 0) return
  const stop = new AbortController()
  const end = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs)
    const stopListening = backtests.onChange((run) => {
      if (run.id === id && hasEnded(run)) resolve()
    })
    stop.signal.addEventListener('abort', () => {
      clearTimeout(timer)
      stopListening()
    })
  })
  try {
    // It may have ended before anybody listened.
    const run = await backtests.get(id)
    if (run !== null && !hasEnded(run)) await end
  } finally {
    stop.abort()
  }
}

/** Without the lists that would crowd out everything else. */
const shortOf = ({ result, ...run }: RunWithResult): JsonObject => {
  const entries = Object.entries(result ?? {}).filter(([, value]) => !isLong(value))
  return { ...run, report: result === null ? null : Object.fromEntries(entries) } as unknown as JsonObject
}

const LIST_LENGTH_MAX = 20

const isLong = (value: unknown): boolean => Array.isArray(value) && value.length > LIST_LENGTH_MAX
