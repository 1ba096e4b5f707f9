import { examples, type Invocation, type DefineCommand } from '../command.ts'
import type { ExitCode } from '../failure.ts'
import { prepareHome } from '../home.ts'
import { runService, withServeOptions, type ServeOptions } from './serve.ts'

export const define: DefineCommand = (command, run) => {
  withServeOptions(command)
    .description(
      'The quickest way to a running service. On the first run it writes config/user.yaml with a random token, ' +
        'creates an identity for development (encrypted if SVC_MASTER_PASSWORD is set) and turns on the simulated ' +
        'market. Existing files stay as they are. Then it does what "svc serve" does.',
    )
    .addHelpText('after', examples('svc up', 'svc --home ~/trading up --port 6060'))
    .action(run(startEverything))
}

const startEverything = async (invocation: Invocation, options: ServeOptions): Promise<ExitCode> => {
  const { created } = await prepareHome(invocation.dependencies, {
    settings: LIVELY,
    development: true,
  })
  return runService(invocation, options, created)
}

/** A market in which something happens within the first minutes, and a brain that looks every minute. */
const LIVELY = { market: { feed: 'simulated', seed: 2 }, brain: { cycle_interval_seconds: 60 } }
