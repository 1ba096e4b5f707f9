import { keepAwake } from './compose/keep-awake.ts'
import { environmentOf, VERSION } from './compose/environment.ts'

// The service alone, for process managers and containers: `node dist/main.js`. People use `svc serve`.
const environment = environmentOf(process.env['SVC_HOME'] ?? process.cwd(), process.env, VERSION)

// A reader of the output may leave; the service stays.
process.stdout.on('error', () => undefined)

const serve = async (): Promise<void> => {
  // Before the rest is loaded: stack traces then name the TypeScript lines.
  process.setSourceMapsEnabled(true)
  const { runUntilSignal } = await import('./compose/service.ts')
  const { baseUrl, dashboardUrl, stopped } = await runUntilSignal(environment, { dashboard: true })
  process.stdout.write(`listening on ${baseUrl}\n`)
  if (dashboardUrl !== null) process.stdout.write(`dashboard on ${dashboardUrl}\n`)
  await stopped
}

try {
  await keepAwake(serve)
} catch (error) {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
