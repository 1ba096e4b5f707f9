import { availableParallelism } from 'node:os'
import { Option } from 'commander'
import { STRATEGY_NAMES, type StrategyName } from '../../../backtest/strategies.ts'
import {
  parametersText,
  setsText,
  shortNumber,
  type SweepDocument,
} from '../../../backtest/sweep/document.ts'
import { shadeOf, type HeatMap } from '../../../backtest/sweep/heat-map.ts'
import { parseParameterValues, type ParameterValues } from '../../../backtest/sweep/space.ts'
import { durationMs } from '../../../backtest/sweep/splits.ts'
import { METRICS, type Metric } from '../../../backtest/sweep/sweep.ts'
import { DAY_MS } from '../../../core/shared/time.ts'
import { collected, numberFrom, parser } from '../arguments.ts'
import { runRequest, withRunOptions, type RunOptions } from '../run-options.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { UsageError } from '../failure.ts'
import {
  fields,
  good,
  left,
  paragraphs,
  percent,
  quiet,
  right,
  shrinking,
  table,
  warning,
  type Column,
} from '../table.ts'
import type { Text } from '../terminal.ts'

export const define: DefineCommand = (command) => {
  withRunOptions(command)
    .description(
      'Runs a strategy with many parameters on all cores, and says what is left after the correction for so many ' +
        'trials. Results are kept as they come: the same command goes on where it stopped.',
    )
    .argument('<strategy>', `what decides: ${STRATEGY_NAMES.join(', ')}, or one of "svc strategies"`)
    .requiredOption(
      '--set <name=values>',
      'values of a parameter: 5..50:5 or 5,10,20; may be repeated',
      collected(parseValues),
    )
    .option('--random <count>', 'so many combinations by chance instead of all', numberFrom(1, 100_000))
    .exclusive('--halving', 'try all on a part of the time, and only the best third on three times as much', [
      'walkForward',
      'folds',
    ])
    .exclusive(
      '--walk-forward <train:test>',
      'choose in one window and test in the next, such as 90d:30d',
      'folds',
      parseWalkForward,
    )
    .option(
      '--folds <count>',
      'choose on all blocks of time but one, and test on that one',
      numberFrom(2, 100),
    )
    .addOption(
      new Option('--embargo <duration>', 'with --folds: leave out what is closer to the tested block')
        .argParser(parseDuration)
        .default(null, '1d'),
    )
    .choice('--metric <name>', 'what the best has most of', METRICS, 'sharpe')
    .option('--fdr <share>', 'share of false discoveries to accept', parseShare, 0.05)
    .option(
      '--heat <x,y>',
      'the parameters of the heat map (default: the first two with several values)',
      parsePair,
    )
    .option('--workers <count>', 'processes at once (default: one per core)', numberFrom(1, 256))
    .option('--fresh', 'throw away what was kept of this sweep')
    .examples(
      'svc sweep ma_crossover --data binance:BTC:5m --set fast=5..50:5',
      'svc sweep momentum --symbol BTC --set bars=5..100 --random 20 --seed 7',
      'svc sweep ma_crossover --symbol BTC --set fast=5..50 --folds 5',
    )
    .runs(runSweep)
}

interface SweepOptions extends RunOptions {
  readonly set: readonly ParameterValues[]
  readonly random?: number
  readonly halving?: true
  readonly walkForward?: { readonly trainMs: number; readonly testMs: number }
  readonly folds?: number
  readonly embargo: number | null
  readonly metric: Metric
  readonly fdr: number
  readonly heat?: readonly [string, string]
  readonly workers?: number
  readonly fresh?: true
}

const runSweep = async (
  invocation: Invocation,
  strategy: StrategyName,
  options: SweepOptions,
): Promise<Answer> => {
  const { folds, heat } = options
  const base = runRequest(options)
  if (options.embargo !== null && folds === undefined) throw new UsageError('--embargo goes with --folds')
  const names = new Set(options.set.map(({ name }) => name))
  for (const name of heat ?? []) {
    if (!names.has(name)) throw new UsageError(`--heat names ${name}, which no --set varies`)
  }
  const sweep = await invocation.sweep({
    base: { strategy, parameters: {}, ...base },
    space: options.set,
    random: options.random ?? null,
    halving: options.halving ?? false,
    walkForward: options.walkForward ?? null,
    folds: folds === undefined ? null : { count: folds, embargoMs: options.embargo ?? DAY_MS },
    metric: options.metric,
    falseDiscoveryRate: options.fdr,
  })
  const progress = invocation.progress('running')
  const startedMs = performance.now()
  let reusedRuns = 0
  const document = await sweep
    .run({
      workers: options.workers ?? availableParallelism(),
      startsAnew: options.fresh ?? false,
      heat: heat ?? null,
      onProgress: (done, total, reused) => {
        reusedRuns = reused
        progress.update(done, total, timeLeft(done - reused, total - done, performance.now() - startedMs))
      },
    })
    .finally(progress.end)
  return {
    document: { ...document, reused_runs: reusedRuns, file: sweep.file },
    text: sweepText(document, reusedRuns, sweep.file),
  }
}

/** Nothing before there is anything to go by. */
export const timeLeft = (done: number, open: number, elapsedMs: number): string => {
  if (done <= 0 || elapsedMs < 1000) return ''
  const perSecond = (done / elapsedMs) * 1000
  const seconds = Math.ceil(open / perSecond)
  const duration = seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`
  return `${perSecond.toFixed(perSecond < 10 ? 1 : 0)} runs/s, ${duration} left`
}

const ROWS_MAX = 10

const sweepText = (document: SweepDocument, reused: number, file: string): Text => {
  const { results, out_of_sample: outside, heat_map: map, sets_left_out: leftOut } = document
  const shown = results.slice(0, ROWS_MAX)
  return paragraphs(
    fields([
      ['Strategy', document.strategy],
      ['Tried', triedText(document, reused)],
      ['Left out', leftOut === null ? null : warning(`${setsText(leftOut.count)}: ${leftOut.reason}`)],
      ['Found', document.edge_found ? good(document.verdict) : warning(document.verdict)],
      ['Kept in', quiet(file)],
    ]),
    shown.length === 0
      ? null
      : table(shown, [
          shrinking('Parameters', ({ parameters }) => parametersText(parameters)),
          right('Return', ({ total_return: total }) => percent(total)),
          right('Sharpe', ({ sharpe }) => sharpe.toFixed(2)),
          right('Drawdown', ({ max_drawdown: drawdown }) => percent(drawdown)),
          right('Trades', ({ trades }) => trades),
          right('P', ({ p_value: p }) => shortNumber(p)),
          right('Corrected', ({ q_value: q, survives }) =>
            survives ? good(shortNumber(q)) : shortNumber(q),
          ),
          right('Deflated', ({ deflated_sharpe: deflated }) =>
            deflated === null ? quiet('N/A') : shortNumber(deflated),
          ),
        ]),
    outside === null
      ? null
      : table(outside.choices, [
          left('Tested from', ({ from }) => from?.slice(0, 10) ?? quiet('nothing')),
          left('To', ({ to }) => to?.slice(0, 10) ?? ''),
          shrinking('Chosen', ({ parameters }) => parametersText(parameters)),
          right('Trained', ({ trained }) => shortNumber(trained)),
          right('Return', ({ tested }) => percent(tested.total_return)),
          right('Sharpe', ({ tested }) => tested.sharpe.toFixed(2)),
          right('Trades', ({ tested }) => tested.trades),
        ]),
    map === null ? null : heatMapText(map),
  )
}

const triedText = ({ trials, runs, method, split }: SweepDocument, reused: number): string => {
  const ways = { grid: 'all of a grid', random: 'chosen by chance', halving: 'by successive halving' }
  const tests = split === null ? '' : `, ${split.tests} ${split.kind === 'folds' ? 'folds' : 'windows'}`
  const known = reused === 0 ? '' : `, ${reused} of them before`
  return `${trials} parameter sets, ${ways[method]}${tests}; ${runs} runs${known}`
}

const COLUMNS_MAX = 16

/** Darker is better. */
const heatMapText = (map: HeatMap): Text => {
  const shade = shadeOf(map)
  const rows = map.ys.map((y, row) => ({ y, cells: map.cells[row] ?? [] }))
  const columns: Column<(typeof rows)[number]>[] = [
    left(`${map.y} \\ ${map.x}`, ({ y }) => String(y)),
    ...map.xs.slice(0, COLUMNS_MAX).map((x, index) =>
      right<(typeof rows)[number]>(String(x), ({ cells }) => {
        const value = cells[index] ?? null
        return value === null ? quiet('·') : `${shade(value).repeat(2)} ${shortMetric(value, map)}`
      }),
    ),
  ]
  return table(rows, columns)
}

const shortMetric = (value: number, { metric }: HeatMap): string =>
  metric === 'sharpe' ? value.toFixed(2) : percent(value)

const parseValues = parser(
  parseParameterValues,
  'It must be a name and values, each once: fast=5..50:5 or fast=5,10,20.',
)

const parseDuration = parser(durationMs, 'It must be a duration such as 12h or 2d.')

const parseWalkForward = parser((text) => {
  const [train = '', test = '', ...rest] = text.split(':')
  const [trainMs, testMs] = [durationMs(train), durationMs(test)]
  return trainMs === null || testMs === null || rest.length > 0 ? null : { trainMs, testMs }
}, 'It must be two durations such as 90d:30d.')

const parseShare = parser((text) => {
  const share = /^0?\.\d+$/.test(text) ? Number(text) : Number.NaN
  return share > 0 && share < 1 ? share : null
}, 'It must be a share such as 0.05.')

const parsePair = parser((text): readonly [string, string] | null => {
  const [x = '', y = '', ...rest] = text.split(',')
  return x === '' || y === '' || x === y || rest.length > 0 ? null : [x, y]
}, 'It must be two parameters such as fast,slow.')
