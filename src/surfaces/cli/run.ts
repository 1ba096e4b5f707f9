import { resolve } from 'node:path'
import { CommanderError, type Command } from 'commander'
import { redactText, redactValue } from '../../core/operations/redaction.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import type { Clock } from '../../ports/clock.ts'
import { TITLES } from '../problem-codes.ts'
import type { Invocation, Run } from './command.ts'
import type { CommandDependencies } from './dependencies.ts'
import {
  EXIT_FAILED,
  EXIT_OK,
  EXIT_USAGE,
  Failure,
  messageOf,
  statusOf,
  UsageError,
  type ExitCode,
  type FailureCode,
} from './failure.ts'
import {
  ask,
  BrokenPipeError,
  documentText,
  expectErrorsOf,
  printerTo,
  progressOn,
  styleFor,
  writeTo,
  type InputStream,
  type Printer,
  type TerminalStream,
} from './terminal.ts'
import { details } from './view-text.ts'
import {
  buildProgram,
  overviewDocument,
  overviewText,
  recognisedNames,
  type GlobalOptions,
} from './program.ts'

/** Streams, variables and current folder of the process, and access to the dependencies of a home. */
export interface Environment {
  readonly stdin: InputStream
  readonly stdout: TerminalStream
  readonly stderr: TerminalStream
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Used as the home when neither --home nor SVC_HOME names one. */
  readonly currentFolder: string
  readonly version: string
  readonly clock: Pick<Clock, 'newId' | 'now'>
  /** Creates the dependencies of a home. Opens nothing yet. */
  readonly dependenciesAt: (home: string) => Promise<CommandDependencies>
}

/** Runs one command line, without `node` and `svc`, and returns its exit code. Never rejects. */
export const runCommandLine = async (
  words: readonly string[],
  environment: Environment,
): Promise<ExitCode> => {
  const { stdin, stdout, stderr, version, clock } = environment
  expectErrorsOf(stdout)
  expectErrorsOf(stderr)
  const requestId = clock.newId()
  const texts = { stdout: '', stderr: '' }
  let dependencies: CommandDependencies | null = null
  let exitCode: ExitCode = EXIT_OK

  const knownSecrets = (): readonly string[] => dependencies?.knownSecrets() ?? []
  const style = styleFor(stdout, environment.environment, clock.now())
  const print = printerTo(stdout, { json: words.includes('--json'), style }, knownSecrets)
  const run: Run =
    (action) =>
    async (...parsed) => {
      const { home } = program.opts<GlobalOptions>()
      // Also checked for commands that read no settings: a misspelt variable is always a mistake.
      const { environmentLayer } = await import('../../core/config/environment.ts')
      const { problems } = environmentLayer(environment.environment)
      if (problems.length > 0) throw new Failure('config.invalid', problems.join('\n'))
      dependencies = await environment.dependenciesAt(
        resolve(environment.currentFolder, home ?? environment.environment['SVC_HOME'] ?? ''),
      )
      const invocation: Invocation = {
        ...dependencies,
        print,
        requestId,
        stdin,
        progress: (label) => progressOn(stderr, label),
        ask: (prompt, typing) => ask(stdin, stderr, prompt, typing),
      }
      const answer = await action(invocation, ...parsed)
      if (answer === undefined) return
      await print.result(answer.document, answer.text ?? details(answer.document ?? {}))
      exitCode = answer.exitCode ?? EXIT_OK
    }
  const program = await buildProgram(words, version, run, (stream, text) => {
    texts[stream] += text
  })
  try {
    await program.parseAsync([...words], { from: 'user' })
    return exitCode
  } catch (error) {
    return await answerTo(error, { program, print, version, stderr, requestId, texts, knownSecrets })
  }
}

interface Ending {
  readonly program: Command
  readonly print: Printer
  readonly version: string
  readonly stderr: TerminalStream
  readonly requestId: string
  /** Text that commander printed. */
  readonly texts: { readonly stdout: string; readonly stderr: string }
  readonly knownSecrets: () => readonly string[]
}

/** Commander also reports help and version by throwing. */
const answerTo = async (error: unknown, ending: Ending): Promise<ExitCode> => {
  try {
    if (error instanceof CommanderError && isAnswer(error, ending)) return await showText(error, ending)
    return await showError(error, ending)
  } catch (failed) {
    // The reader of our output is gone, so the error cannot be reported.
    if (failed instanceof BrokenPipeError) return EXIT_OK
    throw failed
  }
}

/** True for requested help, the version, or the overview for `svc` alone. */
const isAnswer = ({ code, exitCode }: CommanderError, { program }: Ending): boolean =>
  exitCode === EXIT_OK || (code === HELP_INSTEAD && program.args.length === 0)

/** Code of commander when it shows help because a command is missing. */
const HELP_INSTEAD = 'commander.help'

const showText = async ({ code, exitCode }: CommanderError, ending: Ending): Promise<ExitCode> => {
  const { print, texts, version } = ending
  if (code === 'commander.version') await print.result({ version }, texts.stdout)
  else if (exitCode === EXIT_OK) await print.result({ help: texts.stdout }, texts.stdout)
  else await print.result(overviewDocument(version), overviewText(version))
  return EXIT_OK
}

const showError = async (error: unknown, ending: Ending): Promise<ExitCode> => {
  if (error instanceof BrokenPipeError) return EXIT_OK
  const { program, print, stderr, requestId, knownSecrets } = ending
  const names = recognisedNames(program)
  const missing = error instanceof CommanderError && error.code === HELP_INSTEAD
  const isUsage = error instanceof CommanderError || error instanceof UsageError
  const advice = isUsage ? `See: ${['svc', ...names, '--help'].join(' ')}` : null
  const problem = {
    ...problemOf(missing ? new UsageError(`a command is missing after "svc ${names.join(' ')}"`) : error),
    ...(advice === null ? {} : { advice }),
  }
  const secrets = knownSecrets()
  await writeTo(
    stderr,
    print.json
      ? documentText(redactValue(problemDocument(problem, requestId), secrets))
      : redactText(
          `error: ${problem.detail}\n${problem.advice === null ? '' : `${problem.advice}\n`}`,
          secrets,
        ),
  )
  return isUsage ? EXIT_USAGE : EXIT_FAILED
}

/** An error as shown to the user or a program. */
interface Problem {
  readonly code: FailureCode
  readonly detail: string
  readonly advice: string | null
  readonly extras: JsonObject
}

const problemOf = (error: unknown): Problem => {
  const rest = { advice: null, extras: {} }
  if (error instanceof Failure) {
    const { code, message, advice, extras } = error
    return { code, detail: message, advice, extras }
  }
  if (error instanceof CommanderError) {
    const detail = error.message
      .replace(/^error: /, '')
      .replaceAll('\n', ' ')
      .trim()
    return { ...rest, code: 'request.invalid', detail }
  }
  if (error instanceof UsageError) return { ...rest, code: 'request.invalid', detail: error.message }
  const code = (error instanceof Error ? CODES_BY_NAME[error.name] : undefined) ?? 'internal.error'
  return { ...rest, code, detail: messageOf(error) }
}

/** Errors of adapters. A surface knows them by name only. */
const CODES_BY_NAME: Readonly<Record<string, FailureCode>> = {
  ConfigurationFileError: 'config.not_saved',
  FileOpenToOthersError: 'security.refused',
  HistoryError: 'data.refused',
  IdentityMissingError: 'identity.unavailable',
  IdentityNotAdmittedError: 'identity.not_admitted',
  IdentityUnreadableError: 'identity.unavailable',
  SecurityError: 'security.refused',
  StoreLostError: 'store.unavailable',
  StoreUnavailableError: 'store.unavailable',
  VaultEntryError: 'vault.refused',
  VaultUnreadableError: 'vault.unavailable',
}

/** The problem document for programs, in the shape of every error of the service. */
const problemDocument = ({ code, detail, advice, extras }: Problem, requestId: string): JsonObject => {
  const status = statusOf(code)
  return {
    status,
    title: TITLES[status],
    code,
    detail,
    ...(advice === null ? {} : { advice }),
    ...extras,
    request_id: requestId,
  }
}
