import { resolve } from 'node:path'
import type { BacktestCosts } from '../../backtest/sweep/task.ts'
import type { SeriesSelector } from '../../core/market/history/select.ts'
import { collected, parseBasisPoints, parseFrom, parseFunding, parseSeed, parseSeries } from './arguments.ts'
import { parseSymbol, parseTo, tradedTime } from './arguments.ts'
import type { SvcCommand } from './command.ts'

/** Options that a backtest and a sweep share: bars, time, costs, and what lowers the kill switch. */
export interface RunOptions {
  readonly data?: readonly SeriesSelector[]
  readonly recorded?: true
  readonly file?: string
  readonly symbol?: string
  readonly from?: string
  readonly to?: string
  readonly seed?: number
  readonly fees?: number
  readonly slippage?: number
  readonly funding?: BacktestCosts['fundingBps']
  readonly resetDaily?: true
  readonly keepKillSwitch?: true
}

export const withRunOptions = (command: SvcCommand): SvcCommand =>
  command
    .exclusive(
      '--data <series>',
      'recorded bars of "svc data", such as binance:BTC:1m; may be repeated',
      ['file', 'symbol'],
      collected(parseSeries),
    )
    .option('--file <bars>', 'bars as CSV or JSON lines (default: market.file, else simulated)')
    .exclusive('--recorded', 'the bars and signals in the log of this home', ['file', 'data'])
    .option('--symbol <symbol>', 'only this symbol (default: the whole universe)', parseSymbol)
    .option('--from <date>', 'start trading then', parseFrom)
    .option('--to <date>', 'stop trading then; a day is included', parseTo)
    .option('--seed <number>', 'seed of the simulated market, the p-values and everything random', parseSeed)
    .option('--fees <bps>', 'fee per fill in basis points', parseBasisPoints)
    .option('--slippage <bps>', 'slippage per fill in basis points', parseBasisPoints)
    .option('--funding <bps>', 'what longs pay every 8 hours in basis points, or off', parseFunding)
    .option(
      '--reset-daily',
      'a simulated operator lowers the kill switch at every midnight UTC (the default)',
    )
    .exclusive(
      '--keep-kill-switch',
      'leave the kill switch raised to the end, as in the service without an operator',
      'resetDaily',
    )

/** The part of a request that these options decide. */
export const runRequest = (options: RunOptions) => ({
  symbol: options.symbol,
  ...tradedTime(options),
  seed: options.seed,
  data: options.data ?? [],
  isFromLog: options.recorded === true,
  ...(options.file === undefined ? {} : { file: resolve(options.file) }),
  costs: { feeBps: options.fees, slippageBps: options.slippage, fundingBps: options.funding },
  resetsDaily: options.keepKillSwitch !== true,
})
