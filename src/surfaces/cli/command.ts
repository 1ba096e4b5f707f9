import type { Command } from 'commander'
import type { CommandDependencies } from './dependencies.ts'
import type { ExitCode } from './failure.ts'
import type { InputStream, Printer, Progress, Text, Typing } from './terminal.ts'

/** One run of one command, with what the composition gives it. */
export interface Invocation extends CommandDependencies {
  readonly print: Printer
  /** The same in everything this invocation writes to the log and in its error. */
  readonly requestId: string
  readonly progress: (label: string) => Progress
  /** For commands that read line by line. */
  readonly stdin: InputStream
  /** Text from standard input: all of a pipe, or one line from a keyboard. */
  readonly ask: (prompt: string, typing: Typing) => Promise<string>
}

/** What a command answers: a document for programs, text for people. No exit code is 0. */
export interface Answer {
  readonly document: unknown
  readonly text: Text | string
  readonly exitCode?: ExitCode
}

/**
 * Turns a command's function into an action for commander, which passes the arguments, then the options. Its answer is
 * printed; without one it has printed by itself.
 */
export type Run = <Arguments extends readonly unknown[]>(
  action: (invocation: Invocation, ...parsed: Arguments) => Promise<Answer | void>,
) => (...parsed: Arguments) => Promise<void>

/** Adds description, options, subcommands and actions to a command that has its name and summary already. */
export type DefineCommand = (command: Command, run: Run) => void

/** The subcommand that runs when none is named. */
export const defaultCommand = (parent: Command, name: string, summary: string): Command =>
  // Commander passes every unknown word to it: `refuseUnknownWord` has a better error than "too many arguments".
  parent.command(name, { isDefault: true }).summary(summary).allowExcessArguments()

/** For `addHelpText('after', …)`. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
