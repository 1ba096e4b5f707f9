import { Command } from 'commander'
import { COMMAND_GROUPS, type CliCommand, type Task } from './command.ts'
import { COMMANDS } from './commands/all.ts'
import { ABOUT } from './overview.ts'

/** What every command understands, before or after its name. */
export interface GlobalOptions {
  readonly json?: true
  readonly home?: string
}

/** The command that the words name. All of them where none is named, for help and suggestions; none for the version. */
export const commandsFor = async (words: readonly string[]): Promise<readonly CliCommand[]> => {
  const options = words.map((word, index) => word.startsWith('-') || words[index - 1] === '--home')
  const name = words.find((_, index) => options[index] !== true)
  const load = name === undefined ? undefined : COMMANDS[name]
  if (load !== undefined) return [await load()]
  const isVersion = name === undefined && /^(-V|--version)$/.test(words[0] ?? '')
  return isVersion ? [] : Promise.all(Object.values(COMMANDS).map((loadOne) => loadOne()))
}

/** The grammar of `svc`. It prints nothing and never ends the process: texts and errors go to the caller. */
export const buildProgram = (
  version: string,
  commands: readonly CliCommand[],
  task: Task,
  onText: (stream: 'stdout' | 'stderr', text: string) => void,
): Command => {
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
    for (const command of commands.filter((candidate) => candidate.group === group)) {
      command.add(program, task).helpGroup(`${group}:`)
    }
  }
  return program
}

/** The names that were understood: `kill-switch set` of `svc kill-switch set 4`. */
export const understoodNames = (program: Command): readonly string[] => {
  const names: string[] = []
  let current: Command | undefined = program
  for (const word of program.args) {
    current = current.commands.find((command) => command.name() === word)
    if (current === undefined) break
    names.push(word)
  }
  return names
}
