import { Command, Option } from 'commander'
import type { CommandDependencies } from './dependencies.ts'
import type { ExitCode } from './failure.ts'
import type { InputStream, Printer, Progress, Text, Typing } from './terminal.ts'

/** One run of one command, with the dependencies that the composition provides. */
export interface Invocation extends CommandDependencies {
  readonly print: Printer
  /** Id of this invocation, in everything it writes to the log and in its error. */
  readonly requestId: string
  readonly progress: (label: string) => Progress
  /** Standard input, for commands that read line by line. */
  readonly stdin: InputStream
  /** Text from standard input: all of a pipe, or one line from a keyboard. */
  readonly ask: (prompt: string, typing: Typing) => Promise<string>
}

/**
 * Answer of a command: a document for programs, text for people. Without a text, people get the members of the document,
 * as `details` shows them. Without an exit code it is 0.
 */
export interface Answer {
  readonly document: object | null
  readonly text?: Text | string
  readonly exitCode?: ExitCode
}

/** A command's function. Its answer is printed. A function without an answer has printed by itself. */
type Action<Arguments extends readonly unknown[]> = (
  invocation: Invocation,
  ...parsed: Arguments
) => Promise<Answer | void>

/** Turns a command's function into an action for commander, which passes the arguments, then the options. */
export type Run = <Arguments extends readonly unknown[]>(
  action: Action<Arguments>,
) => (...parsed: Arguments) => Promise<void>

/** Builds a command of `svc`: commander's grammar, plus the parts that all our commands share. */
export class SvcCommand extends Command {
  readonly #run: Run

  constructor(name: string | undefined, run: Run) {
    super(name)
    this.#run = run
  }

  override createCommand(name?: string): SvcCommand {
    return new SvcCommand(name, this.#run)
  }

  /** Sets the function that runs with the arguments and options of the command. */
  runs<Arguments extends readonly unknown[]>(action: Action<Arguments>): this {
    return this.action(this.#run(action))
  }

  /** The subcommand that runs when none is named. */
  defaultCommand(name: string, summary: string): SvcCommand {
    // Commander passes every unknown word to this subcommand: `refuseUnknownWord` has a better error than "too many
    // arguments".
    return this.command(name, { isDefault: true }).summary(summary).allowExcessArguments()
  }

  /** Adds an option that accepts one of these values. */
  choice(flags: string, description: string, values: readonly string[], otherwise?: string): this {
    return this.addOption(new Option(flags, description).choices(values).default(otherwise))
  }

  /** Adds an option that excludes the named others. */
  exclusive<Value>(
    flags: string,
    description: string,
    without: string | string[],
    parse?: (text: string, before: Value) => Value,
  ): this {
    const option = new Option(flags, description).conflicts(without)
    return this.addOption(parse === undefined ? option : option.argParser(parse))
  }

  /** Adds examples below the help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
  }
}

/** Adds description, options, subcommands and actions to a command that already has its name and summary. */
export type DefineCommand = (command: SvcCommand) => void
