import { z } from 'zod'
import { RUN_KINDS, RUN_STATUSES } from '../backtest/runs/runs.ts'
import { STRATEGY_NAMES } from '../backtest/strategies.ts'
import type { SweepRequest } from '../backtest/sweep/plan.ts'
import { parseParameterValues } from '../backtest/sweep/space.ts'
import { durationMs } from '../backtest/sweep/splits.ts'
import { METRICS } from '../backtest/sweep/sweep.ts'
import type { BacktestTask } from '../backtest/sweep/task.ts'
import { RunRefusedError } from '../backtest/runs/runs.ts'
import { parseSelector, type SeriesSelector } from '../core/market/history/select.ts'
import { DAY_MS, timestamp } from '../core/shared/time.ts'

/**
 * Members of a request for a run, over HTTP and MCP. No member names a file: bars come from `svc data`, the log or the
 * simulation.
 */

const SERIES_MAX = 20

const text = (lengthMax: number, description: string) =>
  z
    .string()
    .min(1)
    .max(lengthMax)
    .regex(/^[^|\p{Cc}]*$/u, { error: 'must not contain | or control characters' })
    .meta({ description })

const common = {
  strategy: text(64, `what decides: ${STRATEGY_NAMES.join(', ')}, or one of "svc strategies"`).default(
    'brain',
  ),
  data: z
    .array(text(120, 'a series of recorded bars: venue:symbol:timeframe'))
    .max(SERIES_MAX)
    .default([])
    .meta({
      description:
        'series of recorded bars (`svc data list`), such as `binance:BTC:5m`; without them the bars of the configured feed, or a simulated market',
    }),
  recorded: z
    .boolean()
    .default(false)
    .meta({ description: 'the bars and signals in the log of this service instead' }),
  symbol: text(32, 'only this symbol of the universe, in a simulated market or the log').optional(),
  from: timestamp().optional().meta({ description: 'start trading then' }),
  to: timestamp().optional().meta({ description: 'stop trading then' }),
  seed: z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: 'of the simulated market and of the p-value; without it that of the settings' }),
  reset_daily: z.boolean().default(true).meta({
    description:
      'a simulated operator lowers the kill switch at every midnight UTC; false leaves it raised to the end of the run',
  }),
}

export const backtestRequest = z.strictObject({
  ...common,
  parameters: z
    .record(z.string().max(64), z.union([z.number(), z.boolean(), z.string().max(100)]))
    .default({})
    .meta({ description: 'of the strategy, by name; the others keep their defaults' }),
})

export const sweepRequest = z.strictObject({
  ...common,
  set: z
    .array(text(2000, 'values of a parameter: `fast=5..50:5` or `fast=5,10,20`'))
    .min(1)
    .max(10)
    .meta({ description: 'values of parameters; all combinations are tried' }),
  random: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .meta({ description: 'so many combinations by chance instead' }),
  halving: z
    .boolean()
    .default(false)
    .meta({ description: 'give up the worse two thirds early, three times' }),
  walk_forward: text(20, 'choose in one window and test in the next: `90d:30d`').optional(),
  folds: z
    .int()
    .min(2)
    .max(100)
    .optional()
    .meta({ description: 'choose on all blocks of time but one, test on that one' }),
  embargo: text(10, 'with folds: leave out what is closer to the tested block: `1d`').optional(),
  metric: z.enum(METRICS).default('sharpe').meta({ description: 'what the best has most of' }),
  false_discovery_rate: z
    .number()
    .min(0.0001)
    .max(0.5)
    .default(0.05)
    .meta({ description: 'of what survives, the share that may be false' }),
})

export type BacktestWire = z.output<typeof backtestRequest>
export type SweepWire = z.output<typeof sweepRequest>

/** Throws `RunRefusedError` for members that contradict each other. */
export const taskOf = (wire: BacktestWire): BacktestTask => ({
  ...commonOf(wire),
  parameters: wire.parameters,
})

const commonOf = (wire: BacktestWire | SweepWire): BacktestTask => {
  const { strategy, data, recorded, symbol, from, to } = wire
  if (recorded && data.length > 0) throw new RunRefusedError('data and recorded exclude each other')
  if (symbol !== undefined && data.length > 0) throw new RunRefusedError('data and symbol exclude each other')
  const fromMs = from === undefined ? null : Date.parse(from)
  // A day may be written with its last millisecond. Its last bar closes with the next millisecond.
  const toMs = to === undefined ? null : Math.ceil(Date.parse(to) / 1000) * 1000
  if (fromMs !== null && toMs !== null && fromMs >= toMs) throw new RunRefusedError('from comes after to')
  return {
    strategy,
    parameters: {},
    ...(symbol === undefined ? {} : { symbol }),
    fromMs,
    toMs,
    ...(wire.seed === undefined ? {} : { seed: wire.seed }),
    data: data.map(selectorOf),
    isFromLog: recorded,
    resetsDaily: wire.reset_daily,
  }
}

const selectorOf = (series: string): SeriesSelector => {
  const selector = parseSelector(series)
  if (selector === null) {
    throw new RunRefusedError(
      `${series} is no series: it must be venue:symbol:timeframe, such as binance:BTC:5m`,
    )
  }
  return selector
}

export const sweepRequestOf = (wire: SweepWire): SweepRequest => {
  if (wire.embargo !== undefined && wire.folds === undefined) {
    throw new RunRefusedError('embargo goes with folds')
  }
  return {
    base: commonOf(wire),
    space: wire.set.map((written) => {
      const values = parseParameterValues(written)
      if (values !== null) return values
      throw new RunRefusedError(
        `${written} must be a name and values, each once: fast=5..50:5 or fast=5,10,20`,
      )
    }),
    random: wire.random ?? null,
    halving: wire.halving,
    walkForward: wire.walk_forward === undefined ? null : windowsOf(wire.walk_forward),
    folds:
      wire.folds === undefined
        ? null
        : { count: wire.folds, embargoMs: wire.embargo === undefined ? DAY_MS : lengthOf(wire.embargo) },
    metric: wire.metric,
    falseDiscoveryRate: wire.false_discovery_rate,
  }
}

const windowsOf = (written: string): SweepRequest['walkForward'] => {
  const [train = '', test = '', ...rest] = written.split(':')
  if (rest.length > 0) throw new RunRefusedError(`${written} must be two durations such as 90d:30d`)
  return { trainMs: lengthOf(train), testMs: lengthOf(test) }
}

const lengthOf = (written: string): number => {
  const ms = durationMs(written)
  if (ms === null) throw new RunRefusedError(`${written || 'nothing'} is no duration such as 12h or 30d`)
  return ms
}

const figures = z.object({
  total_return: z.number(),
  sharpe: z.number().nullable(),
  max_drawdown: z.number().nullable(),
  p_value: z.number().nullable(),
  trades: z.int(),
  days: z.int(),
})

export const runView = z
  .object({
    id: z.string(),
    kind: z.enum(RUN_KINDS),
    owner: z.string().meta({
      description: 'who asked for it: `token`, `operator`, or an access key with a part of its hash',
    }),
    status: z.enum(RUN_STATUSES),
    request: z.record(z.string(), z.unknown()).meta({ description: 'what was asked for' }),
    progress: z.number().min(0).max(1),
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    attempts: z.int().meta({ description: 'how often it was begun' }),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    verdict: z.string().nullable().meta({ description: 'what came out, in one plain sentence' }),
    edge_found: z.boolean().nullable(),
    figures: figures.nullable(),
  })
  .meta({ id: 'BacktestRun' })

/** The result is the JSON document of the command line. Its members are not listed here, because they may grow. */
export const runResult = z.record(z.string(), z.unknown()).nullable()
