import type { Command } from 'commander'
import type { CommandDependencies } from './dependencies.ts'
import type { ExitCode } from './failure.ts'
import type { InputStream, Printer, Progress } from './terminal.ts'

/** In the order of the help: what a newcomer needs comes first. */
export const COMMAND_GROUPS = ['Run', 'Look', 'Control', 'Signals', 'Prove', 'Settings'] as const

/** One run of one command. */
export interface Invocation {
  readonly dependencies: CommandDependencies
  readonly print: Printer
  /** The same in everything this invocation writes to the log and in its error. */
  readonly requestId: string
  readonly progress: (label: string) => Progress
  /** For commands that read line by line. */
  readonly stdin: InputStream
  /** Text from standard input: all of a pipe, or one hidden line from a keyboard. */
  readonly readSecret: (prompt: string) => Promise<string>
  /** The same, echoed while it is typed. */
  readonly readAnswer: (prompt: string) => Promise<string>
}

/** Turns a command's function into an action for commander, which passes the arguments, then the options. No exit code is 0. */
export type Run = <Arguments extends readonly unknown[]>(
  action: (invocation: Invocation, ...parsed: Arguments) => Promise<ExitCode | void>,
) => (...parsed: Arguments) => Promise<void>

/** Adds description, options, subcommands and actions to a command that has its name and summary already. */
export type DefineCommand = (command: Command, run: Run) => void

/** A line of `svc --help`. A new command is a file in `commands` and a line in `commands/all.ts`. */
export interface CommandEntry {
  readonly name: string
  readonly group: (typeof COMMAND_GROUPS)[number]
  readonly summary: string
  /** Loaded only for the command that runs, since loading takes longer than most commands. */
  readonly load: () => Promise<{ readonly define: DefineCommand }>
}

/** For `addHelpText('after', …)`. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
