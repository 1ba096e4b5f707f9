import { environmentLayer, variableOf } from '../../../core/config/environment.ts'
import { CONFIGURATION_KEYS, type Key } from '../../../core/config/keys.ts'
import { asValues } from '../../../core/config/layers.ts'
import { hintFor } from '../../../core/config/keys.ts'
import { configurationJsonSchema, type Configuration } from '../../../core/config/schema.ts'
import { configurationHashInput, redactedConfiguration } from '../../../core/config/secrets.ts'
import { leavesOf } from '../../../core/config/values.ts'
import { sentenceOf } from '../../../core/shared/faults.ts'
import type { Json } from '../../../core/shared/json.ts'
import { lockedSettings } from '../../../core/treasury/wallet.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import type { ConfigurationChanged } from '../../../ports/config-file.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { invalidConfiguration, openConfiguration } from '../configuration.ts'
import type { CommandDependencies } from '../dependencies.ts'
import { EXIT_FAILED, EXIT_OK, Failure, type ExitCode } from '../failure.ts'
import { documentText } from '../terminal.ts'
import { readState, recordingInLog, type RecordInLog } from '../store.ts'
import { bad, fields, good, quiet, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Settings come from defaults, config/default.yaml, a preset, config/user.yaml and SVC_ environment variables, ' +
        'weak to strong. Secrets are never shown.',
    )
    .addHelpText(
      'after',
      examples(
        'svc config show',
        'svc config set brain.cycle_interval_seconds 600',
        'svc config set api.auth_token - < token.txt',
        'svc config validate user.yaml',
      ),
    )
  command.command('show').summary('every key with its effective value').action(run(showConfiguration))
  command
    .command('validate')
    .summary('check the settings, or a file that would replace config/user.yaml')
    .argument('[file]', 'a YAML file')
    .action(run(validateConfiguration))
  command
    .command('set')
    .summary('change one key in config/user.yaml')
    .argument('<key>', 'for example execution.mode', parseKey)
    .argument('<value>', 'lists as JSON or comma-separated; "-" reads it from standard input')
    .action(run(setKey))
  command.command('schema').summary('the JSON Schema of config/user.yaml').action(run(showSchema))
}

const showConfiguration = async ({ dependencies, print }: Invocation): Promise<ExitCode> => {
  const shown = redactedConfiguration((await openConfiguration(dependencies)).current())
  await print.result(shown, (style) => fields(rowsOf(shown), style))
  return EXIT_OK
}

const validateConfiguration = async (invocation: Invocation, file: string | undefined): Promise<ExitCode> => {
  const { dependencies, print } = invocation
  const checked =
    file === undefined
      ? await dependencies.configuration.open()
      : await dependencies.configuration.check(file)
  const problems = checked.status === 'invalid' ? checked.problems : []
  const ok = problems.length === 0
  await print.result({ ok, problems }, (style) =>
    fields(
      [
        ['Configuration', ok ? good('valid') : bad('not valid')],
        ...problems.map((text): Row => ['Fault', text]),
      ],
      style,
    ),
  )
  return ok ? EXIT_OK : EXIT_FAILED
}

const setKey = async (invocation: Invocation, key: Key, argument: string): Promise<ExitCode> => {
  const value = argument === '-' ? await invocation.readSecret(`Value of ${key.path.join('.')}: `) : argument
  const changed = await recordingInLog(invocation, (record) =>
    changeKey(invocation.dependencies, key, value, record),
  )
  const { path, restartRequired, overriddenByEnv, warnings } = changed
  const document = {
    ok: true,
    path,
    changed: changed.changed,
    restart_required: restartRequired,
    overridden_by_env: overriddenByEnv,
    warnings,
  }
  await invocation.print.result(document, (style) => fields(changeRows(changed), style))
  return EXIT_OK
}

/** One key of `config/user.yaml`, given as text like an environment variable. */
const changeKey = async (
  dependencies: CommandDependencies,
  { path }: Key,
  value: string,
  record: RecordInLog,
): Promise<ConfigurationChanged> => {
  const store = await openConfiguration(dependencies)
  const { layer } = environmentLayer({ [variableOf(path)]: value })
  const outcome = await store.change(layer.values, {
    insecureOk: dependencies.insecureOk,
    locked: lockedSettings((await readState(dependencies)).treasury),
  })
  if (outcome.status !== 'accepted') throw invalidConfiguration(outcome.faults.map(sentenceOf))
  const { changed, configuration } = outcome
  if (changed.length > 0) {
    const configHash = sha256Hex(configurationHashInput(configuration))
    await record('config set', {
      kind: 'record-config-change',
      change: { changed: [...changed], config_hash: configHash },
      surface: 'cli',
    })
  }
  return outcome
}

const showSchema = async ({ print }: Invocation): Promise<ExitCode> => {
  // Redaction goes by names, and here the names of secrets have harmless descriptions.
  await print.asIs(documentText(configurationJsonSchema()))
  return EXIT_OK
}

const rowsOf = (configuration: Configuration): readonly Row[] =>
  leavesOf(asValues(configuration)).map(({ path, value }) => [path.join('.'), valueCell(value)])

const valueCell = (value: Json): Cell => {
  if (value === '') return quiet('(empty)')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const changeRows = ({
  path,
  changed,
  restartRequired,
  overriddenByEnv,
  warnings,
}: ConfigurationChanged): readonly Row[] => [
  ['File', path],
  [
    'Changed',
    changed.length === 0 ? quiet('nothing: the value is in force already') : good(changed.join(', ')),
  ],
  ...rowIf('Restart', restartRequired, 'needed for'),
  ...rowIf('Overridden', overriddenByEnv, 'by the environment:'),
  ...warnings.map((text): Row => ['Warning', warning(text)]),
]

const rowIf = (name: string, keys: readonly string[], words: string): readonly Row[] =>
  keys.length === 0 ? [] : [[name, warning(`${words} ${keys.join(', ')}`)]]

const parseKey = (text: string): Key => {
  const key = CONFIGURATION_KEYS.find(({ path }) => path.join('.') === text)
  if (key !== undefined) return key
  throw new Failure('config.invalid', `${text} is not a known key${hintFor(text.split('.'))}`)
}
