import type { Command } from 'commander'
import type { ExitCode } from './failure.ts'
import type { Printer } from './output.ts'
import type { Progress } from './progress.ts'
import type { InputStream } from './secret-input.ts'
import type { CommandDependencies } from './dependencies.ts'

/** The order of the help: what a newcomer needs comes first. */
export const COMMAND_GROUPS = ['Run', 'Look', 'Control', 'Signals', 'Prove', 'Settings'] as const

export type CommandGroup = (typeof COMMAND_GROUPS)[number]

/** What a command works with. */
export interface Bench {
  readonly dependencies: CommandDependencies
  readonly print: Printer
  /** One for everything this invocation writes or complains about. */
  readonly requestId: string
  readonly progress: (label: string) => Progress
  /** For those who read it piece by piece, as it comes. */
  readonly stdin: InputStream
  /** Text from standard input: all of a pipe, or one hidden line from a keyboard. */
  readonly readSecret: (prompt: string) => Promise<string>
  /** The same, shown while it is typed. */
  readonly readAnswer: (prompt: string) => Promise<string>
}

/** Turns work at the bench into what the parser calls: the arguments, then the options. */
export type Task = <Arguments extends readonly unknown[]>(
  work: (bench: Bench, ...parsed: Arguments) => Promise<ExitCode>,
) => (...parsed: Arguments) => Promise<void>

/** One word of the command line. A new one is a file in `commands` and a line in `commands/all.ts`. */
export interface CliCommand {
  readonly group: CommandGroup
  readonly add: (program: Command, task: Task) => Command
}

/** For `addHelpText('after', …)`. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
