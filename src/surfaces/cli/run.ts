import { resolve } from 'node:path'
import { CommanderError, type Command } from 'commander'
import type { Clock } from '../../ports/clock.ts'
import type { Bench, Task } from './command.ts'
import { EXIT_OK, EXIT_USAGE, UsageError, type ExitCode } from './failure.ts'
import {
  BrokenPipeError,
  expectErrorsOf,
  printerTo,
  writeTo,
  type Printer,
  type TerminalStream,
} from './output.ts'
import { overviewOf, overviewText } from './overview.ts'
import { problemDocument, problemOf, problemText } from './problem.ts'
import { buildProgram, commandsFor, understoodNames, type GlobalOptions } from './program.ts'
import { progressOn } from './progress.ts'
import { readAnswerFrom, readSecretFrom, type InputStream } from './secret-input.ts'
import { paintFor } from './style.ts'
import type { CommandDependencies } from './dependencies.ts'

/** Where the command line was typed, and how to reach a home from there. */
export interface Environment {
  readonly stdin: InputStream
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The home when neither --home nor SVC_HOME names one. */
  readonly currentFolder: string
  readonly version: string
  readonly clock: Clock
  /** Opens nothing yet. */
  readonly workshopAt: (home: string) => CommandDependencies | Promise<CommandDependencies>
}

/** Runs one command line, without `node` and `svc`, and returns its exit code. Never rejects. */
export const runCommandLine = async (
  words: readonly string[],
  surroundings: Environment,
): Promise<ExitCode> => {
  const { stdout, stderr, environment, version, clock } = surroundings
  expectErrorsOf(stdout)
  expectErrorsOf(stderr)
  const json = words.includes('--json')
  const requestId = clock.newId()
  const texts = { stdout: '', stderr: '' }
  let dependencies: CommandDependencies | null = null
  let exitCode: ExitCode = EXIT_OK

  const print = printerTo({
    stdout,
    json,
    paint: paintFor(stdout, environment),
    knownSecrets: () => dependencies?.knownSecrets() ?? [],
  })
  const task: Task =
    (work) =>
    async (...parsed) => {
      dependencies = await surroundings.workshopAt(homeOf(program, surroundings))
      exitCode = await work(benchOf(surroundings, { dependencies, print, requestId }), ...parsed)
    }
  const program = buildProgram(version, await commandsFor(words), task, (stream, text) => {
    texts[stream] += text
  })
  try {
    await program.parseAsync([...words], { from: 'user' })
    return exitCode
  } catch (error) {
    return await answerTo(error, { program, print, requestId, texts, surroundings, dependencies })
  }
}

interface Ending {
  readonly program: Command
  readonly print: Printer
  readonly requestId: string
  /** What the parser wanted to print. */
  readonly texts: { readonly stdout: string; readonly stderr: string }
  readonly surroundings: Environment
  readonly dependencies: CommandDependencies | null
}

/** The parser tells of help and version by throwing, too. */
const answerTo = async (error: unknown, ending: Ending): Promise<ExitCode> => {
  try {
    if (error instanceof CommanderError && isAnswer(error, ending)) return await showText(error, ending)
    return await complain(error, ending)
  } catch (failed) {
    // Nobody reads any more, so nobody needs to hear of it.
    if (failed instanceof BrokenPipeError) return EXIT_OK
    throw failed
  }
}

/** Help that was asked for, the version, or the overview for someone who typed `svc` alone. */
const isAnswer = ({ code, exitCode }: CommanderError, { program }: Ending): boolean =>
  exitCode === EXIT_OK || (code === HELP_INSTEAD && program.args.length === 0)

/** The parser shows help where a command is missing. */
const HELP_INSTEAD = 'commander.help'

const showText = async ({ code, exitCode }: CommanderError, ending: Ending): Promise<ExitCode> => {
  const { program, print, texts, surroundings } = ending
  const { version } = surroundings
  if (code === 'commander.version') await print.result({ version }, () => texts.stdout)
  else if (exitCode === EXIT_OK) await print.result({ help: texts.stdout }, () => texts.stdout)
  else await print.result(overviewOf(program, version), (paint) => overviewText(program, version, paint))
  return EXIT_OK
}

const complain = async (error: unknown, ending: Ending): Promise<ExitCode> => {
  if (error instanceof BrokenPipeError) return EXIT_OK
  const { program, print, requestId, surroundings, dependencies } = ending
  const names = understoodNames(program)
  const missing = error instanceof CommanderError && error.code === HELP_INSTEAD
  const problem = problemOf(
    missing ? new UsageError(`a command is missing after "svc ${names.join(' ')}"`) : error,
  )
  const secrets = dependencies?.knownSecrets() ?? []
  const advice =
    problem.exitCode === EXIT_USAGE ? `See: ${['svc', ...names, '--help'].join(' ')}` : problem.advice
  const told = { ...problem, advice }
  await writeTo(
    surroundings.stderr,
    print.json ? problemDocument(told, requestId, secrets) : problemText(told, secrets),
  )
  return problem.exitCode
}

const homeOf = (program: Command, { environment, currentFolder }: Environment): string => {
  const { home } = program.opts<GlobalOptions>()
  return resolve(currentFolder, home ?? environment['SVC_HOME'] ?? '')
}

const benchOf = (
  { stdin, stderr }: Environment,
  parts: Pick<Bench, 'dependencies' | 'print' | 'requestId'>,
): Bench => ({
  ...parts,
  stdin,
  progress: (label) => progressOn(stderr, label),
  readSecret: (prompt) => readSecretFrom(stdin, stderr, prompt),
  readAnswer: (prompt) => readAnswerFrom(stdin, stderr, prompt),
})
