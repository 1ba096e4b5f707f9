import { Option } from 'commander'
import { BUILT_IN_PRESETS } from '../../../core/config/layers.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { examples, type Answer, type DefineCommand, type Invocation } from '../command.ts'
import { recordingInLog } from '../store.ts'
import { fields, good, quiet, warning } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description(
      'Creates config/, data/ and identity/, config/user.yaml with a random API token, and the identity that signs ' +
        'events. Existing files stay as they are.',
    )
    .addOption(new Option('--preset <name>', 'risk profile').choices([...BUILT_IN_PRESETS.keys()]))
    .option('--dev', 'development: without SVC_MASTER_PASSWORD, save the private key in plain text')
    .addHelpText(
      'after',
      examples('svc init', 'svc init --preset conservative', 'svc --home ~/trading init --dev'),
    )
    .action(run(initialize))
}

const initialize = async (
  invocation: Invocation,
  { preset, dev = false }: { readonly preset?: string; readonly dev?: boolean },
): Promise<Answer> => {
  const { created, nodeId } = await recordingInLog(invocation, async (record) => {
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
    ['Node', nodeId],
    ['Preset', isUnused ? warning(`unchanged, use: svc config set preset ${preset}`) : null],
    ['Next', 'svc up'],
  ])
  return { document: { created, config_path: path, node_id: nodeId }, text }
}

const USER_SETTINGS = 'config/user.yaml'

/** Creates what is missing in a home, and returns its paths; existing files stay as they are. */
export const prepareHome = async (
  { createFolders, configuration, newToken, identity: { create } }: Invocation,
  settings: JsonObject,
  development: boolean,
): Promise<{ readonly created: readonly string[]; readonly nodeId: string }> => {
  const folders = await createFolders()
  const file = await configuration.createUserSettings({ ...settings, api: { auth_token: newToken() } })
  const identity = await create({ development })
  const created = [
    ...folders,
    ...(file.status === 'created' ? [USER_SETTINGS] : []),
    ...(identity.status === 'created' ? [identity.path] : []),
  ]
  return { created, nodeId: identity.nodeId }
}
