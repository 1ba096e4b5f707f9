import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConfigurationStore } from '../ports/config-file.ts'
import type { Logger } from '../ports/logger.ts'
import type { Signer } from '../ports/signer.ts'
import { createDashboardServer, type DashboardServer } from '../surfaces/dashboard/server.ts'
import type { Environment } from './environment.ts'

export interface DashboardOptions {
  readonly environment: Environment
  readonly configuration: ConfigurationStore
  readonly signer: Signer
  readonly logger: Logger
  readonly apiUrl: string
  /** Instead of `dashboard.port`. */
  readonly port: number | undefined
}

/** Null without its pages or its port: the service runs without a dashboard and logs why. */
export const openDashboard = async (
  options: DashboardOptions,
): Promise<{ readonly url: string; readonly server: DashboardServer } | null> => {
  const { environment, configuration, signer, logger, apiUrl, port } = options
  const { host, port: configuredPort } = configuration.current().dashboard
  const server = createDashboardServer({
    apiUrl,
    configuration: () => configuration.current(),
    insecureOk: environment.insecureOk,
    sessionSecret: await sessionSecretOf(signer),
    folder: PAGES,
    endedSessionsFile: join(environment.home, 'data', 'ended-sessions'),
    logger,
    clock: environment.clock,
  })
  if (server === null) {
    logger.warn('the dashboard is off: its pages are not built (npm run build)')
    return null
  }
  try {
    const { url } = await server.listen({ host, port: port ?? configuredPort })
    return { url, server }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error
    logger.warn(`the dashboard is off: ${message}`)
    return null
  }
}

/** Seen from this file, or from the bundle in dist. */
const PAGES = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dashboard/dist' : '../dashboard/dist', import.meta.url),
)

/**
 * Known to this node alone, and the same after a restart, so that sessions survive it. Ed25519 signs the same
 * text in the same way each time. A node whose identity is not saved has another secret in each process.
 */
const sessionSecretOf = async (signer: Signer): Promise<Uint8Array> => {
  const [signature = ''] = await signer.signAll(['dashboard session secret, version 3'])
  if (signature === '') throw new Error('the signer gave no signature')
  return Buffer.from(signature, 'hex')
}
