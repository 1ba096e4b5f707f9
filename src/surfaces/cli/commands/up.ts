import type { DefineCommand } from '../command.ts'
import type { ServiceOptions } from '../dependencies.ts'
import { prepareHome } from './init.ts'
import { runService, withServeOptions } from './serve.ts'

export const define: DefineCommand = (command) => {
  withServeOptions(command)
    .description(
      'On the first run this writes config/user.yaml with a random API token and operator token, creates a development identity (encrypted ' +
        'if SVC_MASTER_PASSWORD is set) and turns on the simulated market. Existing files stay as they are. Then it ' +
        'runs the service like "svc serve".',
    )
    .option('--wait', 'print where it listens only when it can trade: with a price for every symbol')
    .examples('svc up', 'svc up --wait', 'svc --home ~/trading up --port 6060')
    .runs(async (invocation, { wait = false, ...options }: ServiceOptions & { readonly wait?: boolean }) => {
      const { created, operatorToken } = await prepareHome(invocation, DEMO_SETTINGS, true)
      return runService(invocation, options, { created, operatorToken, isWaiting: wait })
    })
}

/** A simulated market that trades within the first minutes, and a cycle every minute. */
const DEMO_SETTINGS = { market: { feed: 'simulated', seed: 2 }, brain: { cycle_interval_seconds: 60 } }
