import type { CliCommand } from '../command.ts'
import { backtest } from './backtest.ts'
import { brain } from './brain.ts'
import { config } from './config.ts'
import { contributors } from './contributors.ts'
import { exportCommand } from './export.ts'
import { health } from './health.ts'
import { identity } from './identity.ts'
import { init } from './init.ts'
import { integrity } from './integrity.ts'
import { intents } from './intents.ts'
import { karma } from './karma.ts'
import { killSwitch } from './kill-switch.ts'
import { learn } from './learn.ts'
import { live } from './live.ts'
import { mcp } from './mcp.ts'
import { orders } from './orders.ts'
import { portfolio } from './portfolio.ts'
import { positions } from './positions.ts'
import { producers } from './producers.ts'
import { replay } from './replay.ts'
import { serve } from './serve.ts'
import { signal } from './signal.ts'
import { up } from './up.ts'
import { vault } from './vault.ts'

/** Every command, in alphabetical order. */
export const ALL_COMMANDS: readonly CliCommand[] = [
  backtest,
  brain,
  config,
  contributors,
  exportCommand,
  health,
  identity,
  init,
  integrity,
  intents,
  karma,
  killSwitch,
  learn,
  live,
  mcp,
  orders,
  portfolio,
  positions,
  producers,
  replay,
  serve,
  signal,
  up,
  vault,
]
