import { SecurityError } from '../adapters/platform/crypto/security-error.ts'
import { createEphemeralIdentity } from '../adapters/platform/identity/identity.ts'
import { loadIdentity } from '../adapters/platform/identity/load-identity.ts'
import { createSigner } from '../adapters/platform/identity/signer.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { Logger } from '../ports/logger.ts'
import type { Signer } from '../ports/signer.ts'
import type { Environment } from './environment.ts'

/** The identity this process signs with; one that ends with it where none may be saved. */
export const openSigner = async (
  surroundings: Environment,
  configuration: Configuration,
  logger: Logger,
): Promise<Signer> => {
  const { home, masterPassword, devMode, clock } = surroundings
  const nodePrefix = configuration.identity.node_prefix
  const onThreadLost = (error: Error): void => logger.error('the signing thread ended', { error })
  try {
    const { identity } = await loadIdentity({ home, password: masterPassword, devMode, nodePrefix, clock })
    return createSigner(identity, onThreadLost)
  } catch (error) {
    if (!(error instanceof SecurityError)) throw error
    logger.warn(`${error.message} This process signs with an identity that ends with it.`)
    return createSigner(createEphemeralIdentity(nodePrefix), onThreadLost)
  }
}
