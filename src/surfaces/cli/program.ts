import type { Command } from 'commander'
import { nearest } from '../../core/shared/nearest.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { SvcCommand, type DefineCommand, type Run } from './command.ts'
import { UsageError } from './failure.ts'
import { fields } from './table.ts'
import type { Text } from './terminal.ts'

/** Options that every command accepts, before or after its name. */
export interface GlobalOptions {
  readonly json?: true
  readonly home?: string
}

const ABOUT = 'An event-sourced trading engine: signed, hash-chained, replayable.'

/** Loaded only for the command that runs, since loading takes longer than most commands. */
type Load = () => Promise<{ readonly define: DefineCommand }>

/** Every command by group, in the order of the help: what a newcomer needs comes first. */
export const COMMANDS: Readonly<Record<string, readonly (readonly [string, string, Load])[]>> = {
  Run: [
    ['init', 'create folders, settings with tokens, and an identity', () => import('./commands/init.ts')],
    [
      'mcp',
      'connect an AI agent to the service over standard input/output',
      () => import('./commands/mcp.ts'),
    ],
    ['new', 'write a strategy or a producer of your own', () => import('./commands/new.ts')],
    ['serve', 'run the service until it is stopped', () => import('./commands/serve.ts')],
    ['up', 'create what is missing, then run the service', () => import('./commands/up.ts')],
    [
      'worker',
      'work on backtests and sweeps of a service with PostgreSQL',
      () => import('./commands/worker.ts'),
    ],
  ],
  Look: [
    [
      'backtest',
      'run the trading rules on recorded or simulated prices',
      () => import('./commands/backtest.ts'),
    ],
    ['data', 'recorded bars: download, import, check, export', () => import('./commands/data.ts')],
    [
      'divergence',
      'compare what happened with a replay of the same inputs',
      () => import('./commands/divergence.ts'),
    ],
    [
      'doctor',
      'find what is wrong with log, clock and lease, and what to do',
      () => import('./commands/doctor.ts'),
    ],
    ['health', 'check settings, store, identity and service', () => import('./commands/health.ts')],
    ['orders', 'orders and their fills; cancel one', () => import('./commands/orders.ts')],
    [
      'portfolio',
      'equity, profit and exposure against their limits',
      () => import('./commands/portfolio.ts'),
    ],
    ['positions', 'open and closed positions; close one or all', () => import('./commands/positions.ts')],
    ['strategies', 'strategies that are found; run their tests', () => import('./commands/strategies.ts')],
    ['sweep', 'try many parameters of a strategy, and correct for it', () => import('./commands/sweep.ts')],
  ],
  Control: [
    ['brain', 'run a brain cycle now, or explain the last one', () => import('./commands/brain.ts')],
    ['intents', 'trades the brain proposed; approve or deny them', () => import('./commands/intents.ts')],
    ['karma', 'profit shared with contributors; settle it', () => import('./commands/karma.ts')],
    ['kill-switch', 'show, raise or lower the kill switch', () => import('./commands/kill-switch.ts')],
    [
      'learn',
      'adjust domain weights from closed trades, or list past runs',
      () => import('./commands/learn.ts'),
    ],
    ['live', 'whether real orders are sent; enable or resume them', () => import('./commands/live.ts')],
  ],
  Signals: [
    [
      'contributors',
      'people and agents who submit signals, and their scores',
      () => import('./commands/contributors.ts'),
    ],
    ['producers', 'sources of signals, and their health', () => import('./commands/producers.ts')],
    ['signal', 'submit a signal for a symbol', () => import('./commands/signal.ts')],
  ],
  Prove: [
    ['audit', 'make every stored decision again and compare it', () => import('./commands/audit.ts')],
    [
      'export',
      'write events, trades, equity or karma to a file or a pipe',
      () => import('./commands/export.ts'),
    ],
    [
      'integrity',
      'verify that no stored event was changed or removed',
      () => import('./commands/integrity.ts'),
    ],
    [
      'prove',
      'write a proof that an event is in the log, for outsiders',
      () => import('./commands/prove.ts'),
    ],
    ['replay', 'rebuild the state from the log and compare it', () => import('./commands/replay.ts')],
    [
      'verify-proof',
      'check a proof offline, with nothing but the public key',
      () => import('./commands/verify-proof.ts'),
    ],
  ],
  Keep: [
    [
      'backup',
      'write the log to one verified file, while the service runs',
      () => import('./commands/backup.ts'),
    ],
    ['import', 'copy an exported log into an empty store', () => import('./commands/import.ts')],
    ['restore', 'put a backup in the place of the log of this home', () => import('./commands/restore.ts')],
  ],
  Settings: [
    ['config', 'show, check or change settings', () => import('./commands/config.ts')],
    ['identity', 'the key that signs every event', () => import('./commands/identity.ts')],
    ['keys', 'access keys: callers with names and rights of their own', () => import('./commands/keys.ts')],
    ['vault', 'secrets, encrypted at rest', () => import('./commands/vault.ts')],
    ['venues', 'where real orders can be sent, and what each can do', () => import('./commands/venues.ts')],
  ],
}

/**
 * The grammar of `svc`, with the options of those commands only that the words name. It prints nothing and never ends
 * the process: texts and errors go to the caller.
 */
export const buildProgram = async (
  words: readonly string[],
  version: string,
  run: Run,
  onText: (stream: 'stdout' | 'stderr', text: string) => void,
): Promise<Command> => {
  const program = new SvcCommand('svc', run)
    .description(ABOUT)
    .usage('<command> [options]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .commandsGroup('Help:')
    .helpCommand('help [command]', 'explain a command')
    .option('--json', 'print one JSON document')
    .option('--home <folder>', 'where config/, data/ and identity/ are (default: SVC_HOME, else this folder)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => onText('stdout', text),
      writeErr: (text) => onText('stderr', text),
    })
    .exitOverride()
    .hook('preAction', (_program, command) => refuseUnknownWord(command))
  for (const [group, commands] of Object.entries(COMMANDS)) {
    for (const [name, summary, load] of commands) {
      const command = program.command(name).summary(summary).helpGroup(`${group}:`)
      if (words.includes(name)) (await load()).define(command)
    }
  }
  return program
}

/** A word after a command without arguments is a misspelt subcommand. */
const refuseUnknownWord = ({ args: [word], registeredArguments, parent }: Command): void => {
  if (word === undefined || registeredArguments.length > 0) return
  const meant = nearest(word, parent?.commands.map((command) => command.name()) ?? [])
  throw new UsageError(`unknown command '${word}'${meant === null ? '' : ` (Did you mean ${meant}?)`}`)
}

/** The names that were recognised: `kill-switch set` of `svc kill-switch set 4`. */
export const recognisedNames = (program: Command): readonly string[] => {
  const names: string[] = []
  let current: Command | undefined = program
  for (const word of program.args) {
    current = current.commands.find((command) => command.name() === word)
    if (current === undefined) break
    names.push(word)
  }
  return names
}

/** The answer to `svc` alone: three first steps, then every command by group. */
export const overviewText =
  (version: string): Text =>
  (style) => {
    const commands = Object.values(COMMANDS).flat()
    // One list for all groups, so that their columns line up.
    const lines = fields(commands.map(([name, summary]) => [name, summary]))(style).split('\n')
    const section = (title: string, rows: readonly string[]): readonly string[] => [
      '',
      style.paint('heading', `${title}:`),
      ...rows.map((line) => `  ${line}`),
    ]
    return [
      `svc ${version}. ${ABOUT}`,
      ...section('First steps', fields(FIRST_STEPS)(style).trimEnd().split('\n')),
      ...Object.entries(COMMANDS).flatMap(([group, { length }]) => section(group, lines.splice(0, length))),
      '',
      'Help on a command: svc <command> --help',
      '',
    ].join('\n')
  }

export const overviewDocument = (version: string): JsonObject => ({
  version,
  commands: Object.entries(COMMANDS).flatMap(([group, commands]) =>
    commands.map(([name, summary]) => ({ name, group, summary })),
  ),
})

const FIRST_STEPS = [
  ['svc up', 'start everything in this folder and print the URLs'],
  ['svc health', 'check settings, store, identity and service'],
  ['svc kill-switch set 3', 'stop all trading, now'],
] as const
