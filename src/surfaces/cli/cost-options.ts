import { parseBasisPoints, parseFunding } from './arguments.ts'
import type { SvcCommand } from './command.ts'

/** Adds the options that a backtest and a sweep share: costs, and what lowers the kill switch. */
export const withCostOptions = (command: SvcCommand): SvcCommand =>
  command
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
