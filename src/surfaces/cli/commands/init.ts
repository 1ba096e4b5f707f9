import { Option } from 'commander'
import { BUILT_IN_PRESETS } from '../../../core/config/layers.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EXIT_OK, type ExitCode } from '../failure.ts'
import { prepareHome, USER_SETTINGS } from '../home.ts'
import { recordingInLog } from '../store.ts'
import { fields, good, quiet, warning, type Cell } from '../table.ts'

export const init: CliCommand = {
  group: 'Run',
  add: (program, task) =>
    program
      .command('init')
      .summary('make this folder a home: folders, token, identity')
      .description(
        'Creates config/, data/ and identity/, config/user.yaml with a random API token, and the identity that signs ' +
          'events. Existing files stay as they are.',
      )
      .addOption(new Option('--preset <name>', 'how much risk to take').choices([...BUILT_IN_PRESETS.keys()]))
      .option('--dev', 'development: without SVC_MASTER_PASSWORD, save the private key in plain text')
      .addHelpText(
        'after',
        examples('svc init', 'svc init --preset conservative', 'svc --home ~/trading init --dev'),
      )
      .action(task(initialize)),
}

interface InitOptions {
  readonly preset?: string
  readonly dev?: true
}

const initialize = async (bench: Bench, { preset, dev }: InitOptions): Promise<ExitCode> => {
  const { dependencies, print } = bench
  const { created, configPath, nodeId } = await recordingInLog(bench, async (record) => {
    const prepared = await prepareHome(dependencies, {
      settings: preset === undefined ? {} : { preset },
      development: dev === true,
    })
    if (prepared.created.length > 0) await record('init')
    return prepared
  })
  const document = { created, config_path: configPath, node_id: nodeId }
  await print.result(document, (paint) =>
    fields(
      [
        ['Home', dependencies.home],
        ['Created', created.length === 0 ? quiet('nothing: all was there') : good(created.join(', '))],
        ['Token', `api.auth_token in ${configPath}`],
        ['Node', nodeId],
        ...presetRow(preset, created),
        ['Next', 'svc up'],
      ],
      paint,
    ),
  )
  return EXIT_OK
}

/** An existing file keeps its preset: better said than found out later. */
const presetRow = (
  preset: string | undefined,
  created: readonly string[],
): readonly (readonly [string, Cell])[] =>
  preset === undefined || created.includes(USER_SETTINGS)
    ? []
    : [['Preset', warning(`unchanged, use: svc config set preset ${preset}`)]]
