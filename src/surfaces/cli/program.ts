import { Command } from 'commander'
import type { JsonObject } from '../../core/shared/json.ts'
import { COMMAND_GROUPS, type Run } from './command.ts'
import { ALL_COMMANDS } from './commands/all.ts'
import type { Style } from './terminal.ts'
import { fields } from './table.ts'

/** Options that every command accepts, before or after its name. */
export interface GlobalOptions {
  readonly json?: true
  readonly home?: string
}

const ABOUT = 'An event-sourced trading engine: signed, hash-chained, replayable.'

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
  const program = new Command('svc')
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
  for (const group of COMMAND_GROUPS) {
    for (const { name, summary, load } of ALL_COMMANDS.filter((entry) => entry.group === group)) {
      const command = program.command(name).summary(summary).helpGroup(`${group}:`)
      if (words.includes(name)) (await load()).define(command, run)
    }
  }
  return program
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
export const overviewText = (version: string, style: Style): string => {
  // One list for all groups, so that their columns line up.
  const lines = fields(
    ALL_COMMANDS.map(({ name, summary }) => [name, summary]),
    style,
  ).split('\n')
  const linesOf = (group: string): readonly string[] =>
    lines.filter((_, index) => ALL_COMMANDS[index]?.group === group)
  return [
    `svc ${version}. ${ABOUT}`,
    '',
    style.paint('heading', 'First steps:'),
    ...indented(fields(FIRST_STEPS, style).trimEnd().split('\n')),
    ...COMMAND_GROUPS.flatMap((group) => [
      '',
      style.paint('heading', `${group}:`),
      ...indented(linesOf(group)),
    ]),
    '',
    'Help on a command: svc <command> --help',
    '',
  ].join('\n')
}

export const overviewDocument = (version: string): JsonObject => ({
  version,
  commands: COMMAND_GROUPS.flatMap((group) =>
    ALL_COMMANDS.filter((entry) => entry.group === group).map(({ name, summary }) => ({
      name,
      group,
      summary,
    })),
  ),
})

const FIRST_STEPS = [
  ['svc up', 'start everything in this folder and print the URLs'],
  ['svc health', 'check settings, store, identity and service'],
  ['svc kill-switch set 3', 'stop all trading, now'],
] as const

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`)
