import { InvalidArgumentError, type Command } from 'commander'
import { openConfiguration, requireToken, tokenPlaceOf } from '../configuration.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { fields, good, quiet, type Row } from '../table.ts'

export const define: DefineCommand = (command, run) => {
  withServeOptions(command)
    .description('Runs the API, the event stream and the dashboard until SIGINT (Ctrl-C) or SIGTERM.')
    .addHelpText('after', examples('svc serve', 'svc serve --port 6060 --no-dashboard'))
    .action(run((invocation, options: ServeOptions) => runService(invocation, options, [])))
}

export interface ServeOptions {
  readonly host?: string
  readonly port?: number
  readonly dashboardPort?: number
  readonly dashboard: boolean
  readonly inMemory?: boolean
}

export const withServeOptions = (command: Command): Command =>
  command
    .option('--host <address>', 'listen on this address instead of api.host')
    .option('--port <number>', 'instead of api.port; 0 takes any free port', parsePort)
    .option('--dashboard-port <number>', 'instead of dashboard.port', parsePort)
    .option('--no-dashboard', 'without the web dashboard')
    .option('--in-memory', 'keep the log in memory: nothing is stored, all is forgotten at the end')

/** Starts, prints where it listens, and runs until it is stopped. */
export const runService = async (
  { dependencies, print }: Invocation,
  options: ServeOptions,
  createdFiles: readonly string[],
): Promise<void> => {
  const configuration = await openConfiguration(dependencies)
  requireToken(dependencies, configuration)
  const service = await dependencies.startService({
    host: options.host ?? null,
    port: options.port ?? null,
    dashboardPort: options.dashboardPort ?? null,
    dashboard: options.dashboard,
    inMemory: options.inMemory ?? false,
  })
  const token = tokenPlaceOf(dependencies, configuration)
  const { baseUrl, dashboardUrl } = service
  const document = {
    listening: baseUrl,
    dashboard: dashboardUrl,
    // Not named "token": a place is no secret, but redaction goes by names.
    auth_source: token,
    created: createdFiles,
  }
  const rows: readonly Row[] = [
    ...(createdFiles.length === 0 ? [] : [['Created', good(createdFiles.join(', '))] as const]),
    ['Dashboard', dashboardUrl ?? quiet('off')],
    ['Token', token],
    ['Stop', 'Ctrl-C'],
  ]
  await print.result(document, (style) => `listening on ${baseUrl}\n${fields(rows, style)}`)
  await service.stopped
}

const PORT_MAX = 65_535

const parsePort = (text: string): number => {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= PORT_MAX) return port
  throw new InvalidArgumentError(`It must be a number from 0 to ${PORT_MAX}.`)
}
