import { CONFIGURATION_KEYS, hintFor, type Key } from '../../../core/config/keys.ts'
import { asValues } from '../../../core/config/layers.ts'
import { type Configuration, configurationJsonSchema } from '../../../core/config/schema.ts'
import { redactedConfiguration } from '../../../core/config/secrets.ts'
import { leavesOf } from '../../../core/config/values.ts'
import type { Json } from '../../../core/shared/json.ts'
import type { ConfigurationChanged } from '../../../ports/config-file.ts'
import { type Bench, type CliCommand, examples } from '../command.ts'
import { changeKey, openConfiguration } from '../configuration.ts'
import { EXIT_FAILED, EXIT_OK, type ExitCode, Failure } from '../failure.ts'
import { documentText } from '../output.ts'
import { recordingInLog } from '../store.ts'
import { bad, type Cell, fields, good, quiet, warning } from '../table.ts'

export const config: CliCommand = {
  group: 'Settings',
  add: (program, task) => {
    const command = program
      .command('config')
      .summary('show, check or change settings')
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
    command.command('show').summary('every key with its effective value').action(task(showConfiguration))
    command
      .command('validate')
      .summary('check the settings, or a file that would replace config/user.yaml')
      .argument('[file]', 'a YAML file')
      .action(task(validateConfiguration))
    command
      .command('set')
      .summary('change one key in config/user.yaml')
      .argument('<key>', 'for example execution.mode', parseKey)
      .argument('<value>', 'lists as JSON or comma-separated; "-" reads it from standard input')
      .action(task(setKey))
    command.command('schema').summary('the JSON Schema of config/user.yaml').action(task(showSchema))
    return command
  },
}

const showConfiguration = async ({ dependencies, print }: Bench): Promise<ExitCode> => {
  const shown = redactedConfiguration((await openConfiguration(dependencies)).current())
  await print.result(shown, (paint) => fields(rowsOf(shown), paint))
  return EXIT_OK
}

const validateConfiguration = async (bench: Bench, file: string | undefined): Promise<ExitCode> => {
  const { dependencies, print } = bench
  const checked =
    file === undefined
      ? await dependencies.configuration.open()
      : await dependencies.configuration.check(file)
  const problems = checked.status === 'invalid' ? checked.problems : []
  const ok = problems.length === 0
  await print.result({ ok, problems }, (paint) =>
    fields(
      [
        ['Configuration', ok ? good('valid') : bad('not valid')],
        ...problems.map((text): readonly [string, Cell] => ['Fault', text]),
      ],
      paint,
    ),
  )
  return ok ? EXIT_OK : EXIT_FAILED
}

const setKey = async (bench: Bench, key: Key, argument: string): Promise<ExitCode> => {
  const value = argument === '-' ? await bench.readSecret(`Value of ${key.path.join('.')}: `) : argument
  const changed = await recordingInLog(bench, (record) => changeKey(bench.dependencies, key, value, record))
  const { path, restartRequired, overriddenByEnv, warnings } = changed
  const document = {
    ok: true,
    path,
    changed: changed.changed,
    restart_required: restartRequired,
    overridden_by_env: overriddenByEnv,
    warnings,
  }
  await bench.print.result(document, (paint) => fields(changeRows(changed), paint))
  return EXIT_OK
}

const showSchema = async ({ print }: Bench): Promise<ExitCode> => {
  // Redaction goes by names, and here the names of secrets have harmless descriptions.
  await print.asIs(documentText(configurationJsonSchema()))
  return EXIT_OK
}

const rowsOf = (configuration: Configuration): readonly (readonly [string, Cell])[] =>
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
}: ConfigurationChanged): readonly (readonly [string, Cell])[] => [
  ['File', path],
  [
    'Changed',
    changed.length === 0 ? quiet('nothing: the value is in force already') : good(changed.join(', ')),
  ],
  ...rowIf('Restart', restartRequired, 'needed for'),
  ...rowIf('Overridden', overriddenByEnv, 'by the environment:'),
  ...warnings.map((text): readonly [string, Cell] => ['Warning', warning(text)]),
]

const rowIf = (name: string, keys: readonly string[], words: string): readonly (readonly [string, Cell])[] =>
  keys.length === 0 ? [] : [[name, warning(`${words} ${keys.join(', ')}`)]]

const parseKey = (text: string): Key => {
  const key = CONFIGURATION_KEYS.find(({ path }) => path.join('.') === text)
  if (key !== undefined) return key
  throw new Failure('config.invalid', `${text} is not a known key${hintFor(text.split('.'))}`)
}
