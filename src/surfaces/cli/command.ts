import { Command, Option } from 'commander'
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

/** A command's function. Its answer is printed; without one it has printed by itself. */
type Action<Arguments extends readonly unknown[]> = (
  invocation: Invocation,
  ...parsed: Arguments
) => Promise<Answer | void>

/** Turns it into an action for commander, which passes the arguments, then the options. */
export type Run = <Arguments extends readonly unknown[]>(
  action: Action<Arguments>,
) => (...parsed: Arguments) => Promise<void>

/** A command of `svc` in the making: the grammar of commander, with what our commands say in one way. */
export class SvcCommand extends Command {
  readonly #run: Run

  constructor(name: string | undefined, run: Run) {
    super(name)
    this.#run = run
  }

  override createCommand(name?: string): SvcCommand {
    return new SvcCommand(name, this.#run)
  }

  /** What the command does with its arguments and options. */
  runs<Arguments extends readonly unknown[]>(action: Action<Arguments>): this {
    return this.action(this.#run(action))
  }

  /** The subcommand that runs when none is named. */
  defaultCommand(name: string, summary: string): SvcCommand {
    // Commander passes every unknown word to it: `refuseUnknownWord` has a better error than "too many arguments".
    return this.command(name, { isDefault: true }).summary(summary).allowExcessArguments()
  }

  /** An option that takes one of these values. */
  choice(flags: string, description: string, values: readonly string[], otherwise?: string): this {
    return this.addOption(new Option(flags, description).choices(values).default(otherwise))
  }

  /** An option that goes without the others that are named. */
  exclusive<Value>(
    flags: string,
    description: string,
    without: string | string[],
    parse?: (text: string, before: Value) => Value,
  ): this {
    const option = new Option(flags, description).conflicts(without)
    return this.addOption(parse === undefined ? option : option.argParser(parse))
  }

  /** Shown below its help. */
  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`)
  }
}

/** Adds description, options, subcommands and actions to a command that has its name and summary already. */
export type DefineCommand = (command: SvcCommand) => void
