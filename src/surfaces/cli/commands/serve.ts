import { numberFrom } from '../arguments.ts'
import type { DefineCommand, Invocation, SvcCommand } from '../command.ts'
import { openConfiguration, requireToken, tokenPlaceOf } from '../configuration.ts'
import { SERVICE_ROLES, type ServiceOptions } from '../dependencies.ts'
import { fields, good, quiet } from '../table.ts'
import type { Text } from '../terminal.ts'
import { operatorRows } from './init.ts'

export const define: DefineCommand = (command) => {
  withServeOptions(command)
    .description('Runs the API, the event stream and the dashboard until SIGINT (Ctrl-C) or SIGTERM.')
    .examples('svc serve', 'svc serve --port 6060 --no-dashboard', 'svc serve --role api')
    .runs((invocation, options: ServiceOptions) => runService(invocation, options))
}

const parsePort = numberFrom(0, 65_535)

export const withServeOptions = (command: SvcCommand): SvcCommand =>
  command
    .option('--host <address>', 'listen on this address instead of api.host')
    .option('--port <number>', 'instead of api.port; 0 takes any free port', parsePort)
    .option('--dashboard-port <number>', 'instead of dashboard.port', parsePort)
    .option('--no-dashboard', 'without the web dashboard')
    .choice('--role <role>', 'api: without feeds and orders; engine: without the API', SERVICE_ROLES, 'all')
    .option('--in-memory', 'keep the log in memory: nothing is stored, all is forgotten at the end')

interface Begun {
  /** Files and folders that the start created in the home. */
  readonly created: readonly string[]
  /** Null if none was created. */
  readonly operatorToken: string | null
  /** Whether to print only when trades can be decided. */
  readonly isWaiting: boolean
}

/** Starts, prints where it listens, and runs until it is stopped. */
export const runService = async (
  invocation: Invocation,
  options: ServiceOptions,
  { created, operatorToken, isWaiting }: Begun = { created: [], operatorToken: null, isWaiting: false },
): Promise<void> => {
  const configuration = await openConfiguration(invocation)
  requireToken(invocation, configuration)
  const service = await invocation.startService(options)
  if (isWaiting) await Promise.race([service.ready(), service.stopped])
  const token = tokenPlaceOf(invocation, configuration)
  const { baseUrl, dashboardUrl } = service
  const rows = fields([
    ['Created', created.length === 0 ? null : good(created.join(', '))],
    ['Role', options.role === undefined || options.role === 'all' ? null : options.role],
    ['Dashboard', dashboardUrl ?? quiet('off')],
    ['Token', token],
    ...operatorRows(operatorToken, configuration.describe().path),
    ['Stop', 'Ctrl-C'],
  ])
  // Not named "token": a place is no secret, but redaction goes by names.
  const document = { listening: baseUrl, dashboard: dashboardUrl, auth_source: token, created }
  const text: Text = (style) => `listening on ${baseUrl}\n${rows(style)}`
  await (operatorToken === null
    ? invocation.print.result(document, text)
    : invocation.print.reveal({ ...document, operator_token: operatorToken }, text))
  await service.stopped
}
