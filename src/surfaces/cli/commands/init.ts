import { Option } from 'commander'
import { BUILT_IN_PRESETS } from '../../../core/config/layers.ts'
import type { JsonObject } from '../../../core/shared/json.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import type { CommandDependencies } from '../dependencies.ts'
import { recordingInLog } from '../store.ts'
import { fields, good, quiet, warning, type Row } from '../table.ts'

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

interface InitOptions {
  readonly preset?: string
  readonly dev?: true
}

const initialize = async (invocation: Invocation, { preset, dev }: InitOptions): Promise<void> => {
  const { dependencies, print } = invocation
  const { created, configPath, nodeId } = await recordingInLog(invocation, async (record) => {
    const prepared = await prepareHome(dependencies, {
      settings: preset === undefined ? {} : { preset },
      development: dev === true,
    })
    if (prepared.created.length > 0) await record('init')
    return prepared
  })
  const document = { created, config_path: configPath, node_id: nodeId }
  await print.result(document, (style) =>
    fields(
      [
        ['Home', dependencies.home],
        [
          'Created',
          created.length === 0 ? quiet('nothing: everything exists already') : good(created.join(', ')),
        ],
        ['Token', `api.auth_token in ${configPath}`],
        ['Node', nodeId],
        ...presetRow(preset, created),
        ['Next', 'svc up'],
      ],
      style,
    ),
  )
}

/** An existing file keeps its preset. */
const presetRow = (preset: string | undefined, created: readonly string[]): readonly Row[] =>
  preset === undefined || created.includes(USER_SETTINGS)
    ? []
    : [['Preset', warning(`unchanged, use: svc config set preset ${preset}`)]]

interface PreparedHome {
  /** Paths relative to the home. */
  readonly created: readonly string[]
  readonly configPath: string
  readonly nodeId: string
}

interface HomeOptions {
  /** For a new `config/user.yaml`, besides its random token. */
  readonly settings: JsonObject
  /** Without a password, save the key in plain text. */
  readonly development: boolean
}

const USER_SETTINGS = 'config/user.yaml'

/** Creates what is missing in a home; existing files stay as they are. */
export const prepareHome = async (
  dependencies: CommandDependencies,
  { settings, development }: HomeOptions,
): Promise<PreparedHome> => {
  const folders = await dependencies.createFolders()
  const file = await dependencies.configuration.createUserSettings({
    ...settings,
    api: { auth_token: dependencies.newToken() },
  })
  const identity = await dependencies.identity.create({ development })
  const { path: configPath } = await dependencies.configuration.describe()
  return {
    created: [
      ...folders,
      ...(file.status === 'created' ? [USER_SETTINGS] : []),
      ...(identity.status === 'created' ? [identity.path] : []),
    ],
    configPath,
    nodeId: identity.nodeId,
  }
}
