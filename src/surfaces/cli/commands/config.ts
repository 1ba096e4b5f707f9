import { environmentLayer, variableOf } from '../../../core/config/environment.ts'
import { CONFIGURATION_KEYS, hintFor, type Key } from '../../../core/config/keys.ts'
import { asValues } from '../../../core/config/layers.ts'
import { configurationJsonSchema } from '../../../core/config/schema.ts'
import { configurationRecord } from '../../../core/config/recorded.ts'
import { redactedConfiguration } from '../../../core/config/secrets.ts'
import { leavesOf, sameValue, valueAt } from '../../../core/config/values.ts'
import { sentenceOf } from '../../../core/shared/faults.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import { lockedVenue } from '../../../core/trading/venue/unrouted.ts'
import { lockedSettings } from '../../../core/treasury/wallet.ts'
import { sha256Hex } from '../../../engine/sha256.ts'
import type { ConfigurationChanged } from '../../../ports/config-file.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { invalidConfiguration, openConfiguration, settingsOf } from '../configuration.ts'
import { EXIT_FAILED, EXIT_OK, Failure } from '../failure.ts'
import { runningSettings, type RunningSettings } from '../running-settings.ts'
import { documentText } from '../terminal.ts'
import { readState, recordingInLog, type RecordInLog } from '../store.ts'
import { bad, fields, good, quiet, warning, type Cell, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Settings come from defaults, config/default.yaml, a preset, config/user.yaml and SVC_ environment variables, ' +
        'weak to strong. Secrets are never shown.',
    )
    .examples(
      'svc config show',
      'svc config set brain.cycle_interval_seconds 600',
      'svc config set api.auth_token - < token.txt',
      'svc config validate user.yaml',
    )
  command
    .command('show')
    .summary('every key with its value, and the value in force where the running service has another one')
    .option('--running', 'the values with which the service runs, without changes that wait for a restart')
    .runs(showConfiguration)
  command
    .command('validate')
    .summary('check the settings, or a file that would replace config/user.yaml')
    .argument('[file]', 'a YAML file')
    .runs(validateConfiguration)
  command
    .command('set')
    .summary('change one key in config/user.yaml')
    .argument('<key>', 'for example execution.mode', parseKey)
    .argument('<value>', 'lists as JSON or comma-separated; "-" reads it from standard input')
    .runs(setKey)
  command.command('schema').summary('the JSON Schema of config/user.yaml').runs(showSchema)
}

const showConfiguration = async (
  invocation: Invocation,
  options: { readonly running?: boolean },
): Promise<Answer> => {
  const configured = asValues(redactedConfiguration(await settingsOf(invocation)))
  const running = await runningSettings(invocation)
  if (options.running === true) {
    if (running.status !== 'known') throw new Failure('service.not_started', reasonOf(running))
    return { document: running.values, text: fields(rowsOf(running.values, null)) }
  }
  const values = running.status === 'known' ? running.values : null
  const rows = rowsOf(configured, values)
  // The service may run with other values: the operator has to know that nobody compared them.
  if (running.status === 'unknown') rows.push(['Running', warning(`not known: ${running.reason}`)])
  return { document: configured, text: fields(rows) }
}

const reasonOf = (running: Exclude<RunningSettings, { readonly status: 'known' }>): string =>
  running.status === 'not-running' ? 'no service of this home is running' : running.reason

/** Rows of the configured values; where the service runs with another value, the row shows both. */
const rowsOf = (configured: JsonObject, running: JsonObject | null): Row[] =>
  leavesOf(configured).map(({ path, value }): Row => {
    const inForce = running === null ? value : valueAt(running, path)
    const isWaiting = inForce !== undefined && !sameValue(inForce, value)
    if (!isWaiting) return [path.join('.'), valueCell(value)]
    return [path.join('.'), warning(`${valueText(value)} (running: ${valueText(inForce)})`)]
  })

const validateConfiguration = async (
  { configuration }: Invocation,
  file: string | undefined,
): Promise<Answer> => {
  const checked = file === undefined ? await configuration.open() : await configuration.check(file)
  const problems = checked.status === 'invalid' ? checked.problems : []
  const ok = problems.length === 0
  const text = fields([
    ['Configuration', ok ? good('valid') : bad('not valid')],
    ...problems.map((problem): Row => ['Fault', problem]),
  ])
  return { document: { ok, problems }, text, exitCode: ok ? EXIT_OK : EXIT_FAILED }
}

export const setKey = async (
  invocation: Invocation,
  key: Pick<Key, 'path'>,
  argument: string,
): Promise<Answer> => {
  const value =
    argument === '-' ? await invocation.ask(`Value of ${key.path.join('.')}: `, 'hidden') : argument
  const { path, changed, restartRequired, overriddenByEnv, warnings } = await recordingInLog(
    invocation,
    (record) => changeKey(invocation, key, value, record),
  )
  const text = fields([
    ['File', path],
    [
      'Changed',
      changed.length === 0 ? quiet('nothing: the value is in force already') : good(changed.join(', ')),
    ],
    ['Restart', keysCell('needed for', restartRequired)],
    ['Overridden', keysCell('by the environment:', overriddenByEnv)],
    ...warnings.map((line): Row => ['Warning', warning(line)]),
  ])
  const document = {
    ok: true,
    path,
    changed,
    restart_required: restartRequired,
    overridden_by_env: overriddenByEnv,
    warnings,
  }
  return { document, text }
}

/** One key of `config/user.yaml`, given as text like an environment variable. */
const changeKey = async (
  invocation: Invocation,
  { path }: Pick<Key, 'path'>,
  value: string,
  record: RecordInLog,
): Promise<ConfigurationChanged> => {
  const store = await openConfiguration(invocation)
  const { layer } = environmentLayer({ [variableOf(path)]: value })
  const { treasury, trading } = await readState(invocation)
  const outcome = await store.change(layer.values, {
    insecureOk: invocation.insecureOk,
    locked: { ...lockedSettings(treasury), ...lockedVenue(trading, store.current().execution) },
  })
  if (outcome.status !== 'accepted') throw invalidConfiguration(outcome.faults.map(sentenceOf))
  const { changed, configuration } = outcome
  if (changed.length > 0) {
    await record('config set', {
      kind: 'record-config-change',
      change: { changed: [...changed], changed_by: 'cli', ...configurationRecord(configuration, sha256Hex) },
      surface: 'cli',
    })
  }
  return outcome
}

/** Redaction goes by names, and here the names of secrets have harmless descriptions. */
const showSchema = ({ print }: Invocation): Promise<void> =>
  print.asIs(documentText(configurationJsonSchema()))

const valueCell = (value: Json): Cell => (value === '' ? quiet(valueText(value)) : valueText(value))

const valueText = (value: Json): string => {
  if (value === '') return '(empty)'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const keysCell = (words: string, keys: readonly string[]): Cell | null =>
  keys.length === 0 ? null : warning(`${words} ${keys.join(', ')}`)

const parseKey = (text: string): Key => {
  const key = CONFIGURATION_KEYS.find(({ path }) => path.join('.') === text)
  if (key !== undefined) return key
  throw new Failure('config.invalid', `${text} is not a known key${hintFor(text.split('.'))}`)
}
