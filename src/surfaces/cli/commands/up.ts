import { examples, type Bench, type CliCommand } from '../command.ts'
import type { ExitCode } from '../failure.ts'
import { prepareHome } from '../home.ts'
import { runService, withServeOptions, type ServeOptions } from './serve.ts'

export const up: CliCommand = {
  group: 'Run',
  add: (program, task) =>
    withServeOptions(program.command('up'))
      .summary('make this folder a home if it is none, then serve')
      .description(
        'The quickest way to a running service. On the first run it writes config/user.yaml with a random token, ' +
          'creates an identity for development (encrypted if SVC_MASTER_PASSWORD is set) and turns on the simulated ' +
          'market. Existing files stay as they are. Then it does what "svc serve" does.',
      )
      .addHelpText('after', examples('svc up', 'svc --home ~/trading up --port 6060'))
      .action(task(startEverything)),
}

const startEverything = async (bench: Bench, options: ServeOptions): Promise<ExitCode> => {
  const { created } = await prepareHome(bench.dependencies, {
    settings: LIVELY,
    development: true,
  })
  return runService(bench, options, created)
}

/** A market in which something happens within the first minutes, and a brain that looks every minute. */
const LIVELY = { market: { feed: 'simulated', seed: 2 }, brain: { cycle_interval_seconds: 60 } }
