import { z } from 'zod'
import { hasEnded, type BacktestRuns, type RunKind, type RunWithResult } from '../../../backtest/runs/runs.ts'
import { isJsonObject } from '../../../core/shared/json-object.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { backtestRequest, runView, sweepRequest } from '../../backtest-wire.ts'
import type { Holder } from '../../../core/shared/fair-share.ts'
import { holderOf } from '../../caller.ts'
import { LIMITS_NOTE } from '../tool-result.ts'
import { failed, orError, tool, type ToolOutcome } from '../tool.ts'

/** Below the limit of 30 s for a request over HTTP. */
const WAIT_SECONDS_MAX = 20
/** Default wait. A caller of a longer run receives its id after this time. */
const WAIT_SECONDS = 1

const waiting = (fallback: number) =>
  z
    .int()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .default(fallback)
    .meta({ description: 'how long to wait for the result; it goes on without anybody waiting' })

const outputOf = (description: string) =>
  runView.extend({ report: z.looseObject({}).nullable().meta({ description }) })

const backtestOutput = outputOf('the figures, once it is done; days and trades are counted, not listed')

const sweepOutput = outputOf(
  `once it is done: \`trials\`, \`survivors\` of the correction at \`false_discovery_rate\`, and the best ` +
    `parameter sets with \`q_value\`, \`deflated_sharpe\` and \`survives\``,
)

const REFUSALS = ['backtest_refused', 'queue_full', 'scope_missing', 'author_mismatch'] as const

const idOf = (starter: string) =>
  z
    .string()
    .max(128)
    .meta({ description: `as ${starter} returned it` })

export const backtestTools = {
  run_backtest: tool('submit', {
    title: 'Run a backtest',
    advice:
      '`verdict` says in one sentence whether there is an edge; "no edge found" is a normal answer. One run is not ' +
      'corrected for the others you tried: the more ideas are tried, the more of them look good by chance. run_sweep ' +
      'tries many parameters and corrects for them.',
    input: backtestRequest.extend({ wait_seconds: waiting(WAIT_SECONDS) }),
    output: orError(backtestOutput, REFUSALS),
    author: () => null,
    call: ({ input: { wait_seconds: seconds, ...request }, caller, dependencies: { backtests } }) =>
      started(backtests, { kind: 'backtest', request: request as JsonObject, by: holderOf(caller) }, seconds),
  }),
  get_backtest: tool('read', {
    title: 'A backtest',
    advice: LIMITS_NOTE,
    input: z.object({ id: idOf('run_backtest'), wait_seconds: waiting(0) }),
    output: orError(backtestOutput, ['backtest_not_found']),
    call: ({ input: { id, wait_seconds: seconds }, dependencies: { backtests } }) =>
      answerOf(backtests, { id, kind: 'backtest' }, seconds, 'read'),
  }),
  run_sweep: tool('submit', {
    title: 'Run a sweep',
    advice:
      '`verdict` says in one sentence what is left after the correction for so many trials; "no edge found" is the ' +
      'usual answer, and then the best parameter set is the luckiest one. `walk_forward` or `folds` judge by time that ' +
      'the choice has not seen. A sweep is corrected for its own trials, not for other sweeps.',
    input: sweepRequest.extend({ wait_seconds: waiting(WAIT_SECONDS) }),
    output: orError(sweepOutput, REFUSALS),
    author: () => null,
    call: ({ input: { wait_seconds: seconds, ...request }, caller, dependencies: { backtests } }) =>
      started(backtests, { kind: 'sweep', request: request as JsonObject, by: holderOf(caller) }, seconds),
  }),
  get_sweep: tool('read', {
    title: 'A sweep',
    advice: LIMITS_NOTE,
    input: z.object({ id: idOf('run_sweep'), wait_seconds: waiting(0) }),
    output: orError(sweepOutput, ['backtest_not_found']),
    call: ({ input: { id, wait_seconds: seconds }, dependencies: { backtests } }) =>
      answerOf(backtests, { id, kind: 'sweep' }, seconds, 'read'),
  }),
}

const started = async (
  backtests: BacktestRuns,
  { kind, request, by }: { readonly kind: RunKind; readonly request: JsonObject; readonly by: Holder },
  seconds: number,
): Promise<ToolOutcome> => {
  const submitted = await backtests.submit(kind, request, by)
  switch (submitted.status) {
    case 'refused':
      return failed('backtest_refused', { detail: submitted.reason })
    case 'full':
      return failed('queue_full', { max: submitted.max })
    case 'accepted':
      return answerOf(backtests, { id: submitted.run.id, kind }, seconds, 'written')
  }
}

const answerOf = async (
  backtests: BacktestRuns,
  { id, kind }: { readonly id: string; readonly kind: RunKind },
  seconds: number,
  effect: 'read' | 'written',
): Promise<ToolOutcome> => {
  const asked = await backtests.get(id)
  // An id of the other kind is not found, and not waited for.
  if (asked?.kind !== kind) return failed('backtest_not_found', { id })
  await ended(backtests, id, seconds * 1000)
  const run = await backtests.get(id)
  return run === null ? failed('backtest_not_found', { id }) : { status: 'done', value: shortOf(run), effect }
}

/** Resolves when the run has ended, or after this time. */
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
    // The run may have ended before the listener was added.
    const run = await backtests.get(id)
    if (run !== null && !hasEnded(run)) await end
  } finally {
    stop.abort()
  }
}

/** The run without long lists. Of the parameter sets only the best are kept. */
const shortOf = ({ result, ...run }: RunWithResult): JsonObject => {
  const report = result as unknown as JsonObject | null
  return { ...run, report: report === null ? null : shortReport(report) } as unknown as JsonObject
}

const shortReport = ({ results, heat_map: _map, ...report }: JsonObject): JsonObject => ({
  ...(withoutLongLists(report) as JsonObject),
  ...(Array.isArray(results) ? { results: results.slice(0, RESULTS_SHOWN) } : {}),
})

const withoutLongLists = (value: Json): Json => {
  if (!isJsonObject(value)) return value
  const short = Object.entries(value).filter(([, member]) => !isLong(member))
  return Object.fromEntries(short.map(([name, member]) => [name, withoutLongLists(member)]))
}

const RESULTS_SHOWN = 10
const LIST_LENGTH_MAX = 20

const isLong = (value: unknown): boolean => Array.isArray(value) && value.length > LIST_LENGTH_MAX
