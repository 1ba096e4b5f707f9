import { environmentLayer, type EnvironmentVariables } from '../../../core/config/environment.ts'
import { BUILT_IN_PRESETS, setsKey } from '../../../core/config/layers.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { recordingInLog } from '../store.ts'
import { fields, good, quiet, warning, type Row } from '../table.ts'

export const define: DefineCommand = (command) => {
  command
    .description(
      'Creates config/, data/ and identity/, config/user.yaml with a random API token and operator token, and the ' +
        'identity that signs events. Existing files stay as they are. Where SVC_API__AUTH_TOKEN is set, tokens are ' +
        'those of the environment, and no operator token is created.',
    )
    .choice('--preset <name>', 'risk profile', [...BUILT_IN_PRESETS.keys()])
    .option('--dev', 'development: without SVC_MASTER_PASSWORD, save the private key in plain text')
    .examples('svc init', 'svc init --preset conservative', 'svc --home ~/trading init --dev')
    .runs(initialize)
}

const initialize = async (
  invocation: Invocation,
  { preset, dev = false }: { readonly preset?: string; readonly dev?: boolean },
): Promise<Answer | void> => {
  const { created, nodeId, operatorToken } = await recordingInLog(invocation, async (record) => {
    const prepared = await prepareHome(invocation, preset === undefined ? {} : { preset }, dev)
    if (prepared.created.length > 0) await record('init')
    return prepared
  })
  const { path } = invocation.configuration.describe()
  // An existing file keeps its preset.
  const isUnused = preset !== undefined && !created.includes(USER_SETTINGS)
  const text = fields([
    ['Home', invocation.home],
    [
      'Created',
      created.length === 0 ? quiet('nothing: everything exists already') : good(created.join(', ')),
    ],
    ['Token', `api.auth_token in ${path}`],
    ...operatorRows(operatorToken, path),
    ['Node', nodeId],
    ['Preset', isUnused ? warning(`unchanged, use: svc config set preset ${preset}`) : null],
    ['Next', 'svc up'],
  ])
  const document = { created, config_path: path, node_id: nodeId }
  if (operatorToken === null) return { document, text }
  await invocation.print.reveal({ ...document, operator_token: operatorToken }, text)
}

/** Rows that show the operator token once, when it is created. */
export const operatorRows = (operatorToken: string | null, path: string): readonly Row[] =>
  operatorToken === null
    ? []
    : [['Operator token', `${operatorToken} (shown once; it is api.operator_token in ${path})`]]

const USER_SETTINGS = 'config/user.yaml'

/** Creates the missing files of a home and returns their paths. Existing files stay as they are. */
export const prepareHome = async (
  { createFolders, configuration, environment, newToken, identity }: Invocation,
  settings: JsonObject,
  development: boolean,
): Promise<PreparedHome> => {
  // Checked first, so that a refusal leaves nothing behind: an existing settings file never shows its operator token
  // again.
  await identity.check({ development })
  const folders = await createFolders()
  const { status, path, nodeId } = await identity.create({ development })
  const api = { auth_token: newToken(), ...operatorToken(environment, newToken) }
  const file = await configuration.createUserSettings({ ...settings, api })
  const created = [
    ...folders,
    ...(file.status === 'created' ? [USER_SETTINGS] : []),
    ...(status === 'created' ? [path] : []),
  ]
  const { operator_token = null } = file.status === 'created' ? api : {}
  return { created, nodeId, operatorToken: operator_token }
}

interface PreparedHome {
  readonly created: readonly string[]
  readonly nodeId: string
  /** Null if none was created. */
  readonly operatorToken: string | null
}

/** A new operator token, unless the environment sets the API token or the operator token. */
const operatorToken = (
  environment: EnvironmentVariables,
  newToken: () => string,
): { readonly operator_token?: string } => {
  const { layer } = environmentLayer(environment)
  const isTheirs = setsKey(layer, ['api', 'auth_token']) || setsKey(layer, ['api', 'operator_token'])
  return isTheirs ? {} : { operator_token: newToken() }
}
