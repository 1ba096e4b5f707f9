import type { CommandEntry } from '../command.ts'

const entry = (
  name: string,
  group: CommandEntry['group'],
  summary: string,
  load: CommandEntry['load'],
): CommandEntry => ({ name, group, summary, load })

/** Every command, in alphabetical order. */
export const ALL_COMMANDS: readonly CommandEntry[] = [
  entry(
    'backtest',
    'Look',
    'run the trading rules on recorded or simulated prices',
    () => import('./backtest.ts'),
  ),
  entry('brain', 'Control', 'run a brain cycle now, or explain the last one', () => import('./brain.ts')),
  entry('config', 'Settings', 'show, check or change settings', () => import('./config.ts')),
  entry(
    'contributors',
    'Signals',
    'people and agents who submit signals, and their scores',
    () => import('./contributors.ts'),
  ),
  entry(
    'export',
    'Prove',
    'write events or treasury intents to a file or a pipe',
    () => import('./export.ts'),
  ),
  entry('health', 'Look', 'check settings, store, identity and service', () => import('./health.ts')),
  entry('identity', 'Settings', 'the key that signs every event', () => import('./identity.ts')),
  entry('init', 'Run', 'create folders, settings with a token, and an identity', () => import('./init.ts')),
  entry(
    'integrity',
    'Prove',
    'verify that no stored event was changed or removed',
    () => import('./integrity.ts'),
  ),
  entry(
    'intents',
    'Control',
    'trades the brain proposed; approve or deny them',
    () => import('./intents.ts'),
  ),
  entry('karma', 'Control', 'profit shared with contributors; settle it', () => import('./karma.ts')),
  entry('kill-switch', 'Control', 'show, raise or lower the kill switch', () => import('./kill-switch.ts')),
  entry(
    'learn',
    'Control',
    'adjust domain weights from closed trades, or list past runs',
    () => import('./learn.ts'),
  ),
  entry('live', 'Control', 'whether real orders are sent; enable or resume them', () => import('./live.ts')),
  entry(
    'mcp',
    'Run',
    'connect an AI agent to the service over standard input/output',
    () => import('./mcp.ts'),
  ),
  entry('orders', 'Look', 'orders and their fills; cancel one', () => import('./orders.ts')),
  entry(
    'portfolio',
    'Look',
    'equity, profit and exposure against their limits',
    () => import('./portfolio.ts'),
  ),
  entry('positions', 'Look', 'open and closed positions; close one or all', () => import('./positions.ts')),
  entry('producers', 'Signals', 'sources of signals, and their health', () => import('./producers.ts')),
  entry(
    'prove',
    'Prove',
    'write a proof that an event is in the log, for outsiders',
    () => import('./prove.ts'),
  ),
  entry('replay', 'Prove', 'rebuild the state from the log and compare it', () => import('./replay.ts')),
  entry('serve', 'Run', 'run the service until it is stopped', () => import('./serve.ts')),
  entry('signal', 'Signals', 'submit a signal for a symbol', () => import('./signal.ts')),
  entry('up', 'Run', 'create what is missing, then run the service', () => import('./up.ts')),
  entry('vault', 'Settings', 'secrets, encrypted at rest', () => import('./vault.ts')),
  entry(
    'verify-proof',
    'Prove',
    'check a proof offline, with nothing but the public key',
    () => import('./verify-proof.ts'),
  ),
]
