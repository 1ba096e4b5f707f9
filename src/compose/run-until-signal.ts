import { Failure } from '../surfaces/cli/failure.ts'
import type { RunningService, ServiceOptions } from '../surfaces/cli/dependencies.ts'
import { asFailure } from './identity-commands.ts'
import { startService, StartRefusedError } from './service.ts'
import type { Environment } from './environment.ts'

/** One Ctrl-C reaches a process twice when a parent passes it on, too. */
const SAME_SIGNAL_MS = 2000

/** Runs the service until SIGINT or SIGTERM; another signal later does not wait for open requests. */
export const runUntilSignal = async (
  surroundings: Environment,
  options: ServiceOptions,
): Promise<RunningService> => {
  const service = await asFailure(() => startService(surroundings, options).catch(explain))
  const stopped = new Promise<void>((resolve, reject) => {
    let stoppingSinceMs: number | null = null
    const stop = (): void => {
      const nowMs = surroundings.clock.now()
      if (stoppingSinceMs === null) {
        stoppingSinceMs = nowMs
        service.close().then(resolve, reject)
      } else if (nowMs - stoppingSinceMs > SAME_SIGNAL_MS) {
        process.exit(1)
      }
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
  return { baseUrl: service.baseUrl, dashboardUrl: service.dashboardUrl, stopped }
}

const explain = (error: unknown): never => {
  if (error instanceof StartRefusedError) throw new Failure('service.not_started', error.message)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE' || code === 'EACCES' || code === 'EADDRNOTAVAIL') {
    throw new Failure('service.not_started', `cannot listen: ${message}`, {
      advice: 'Choose another port with --port or SVC_API__PORT.',
    })
  }
  throw error
}
