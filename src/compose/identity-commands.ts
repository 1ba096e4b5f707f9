import { relative } from 'node:path'
import { SecurityError } from '../adapters/platform/crypto/security-error.ts'
import { describeIdentity } from '../adapters/platform/identity/describe-identity.ts'
import {
  identityPath,
  IdentityNotAdmittedError,
  IdentityUnreadableError,
} from '../adapters/platform/identity/identity-file.ts'
import { loadIdentity } from '../adapters/platform/identity/load-identity.ts'
import { VaultUnreadableError } from '../adapters/platform/vault/vault.ts'
import { createVault, VaultEntryError } from '../adapters/platform/vault/vault.ts'
import type { Configuration } from '../core/config/schema.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import type { IdentityCommands, VaultCommands } from '../surfaces/cli/dependencies.ts'
import type { Environment } from './environment.ts'

export const identityCommands = (
  environment: Environment,
  loaded: () => Promise<Configuration>,
): IdentityCommands => {
  const { home, clock, masterPassword: password, devMode } = environment
  return {
    describe: () => describeIdentity(home),
    create: ({ development }) =>
      asFailure(async () => {
        const nodePrefix = (await loaded()).identity.node_prefix
        const options = { home, password, devMode: devMode || development, nodePrefix, clock }
        const { status, identity, encrypted } = await loadIdentity(options)
        const { nodeId, publicKey } = identity
        return { status, path: relative(home, identityPath(home)), nodeId, publicKey, encrypted }
      }),
  }
}

export const vaultCommands = ({ home, clock, masterPassword: password }: Environment): VaultCommands => {
  const vault = createVault({ home, password, clock })
  return {
    isPresent: () => vault.isPresent(),
    list: () => asFailure(() => vault.list()),
    set: (name, value) => asFailure(() => vault.set(name, value)),
    remove: (name) => asFailure(() => vault.remove(name)),
  }
}

/** Turns errors that the user can fix into failures of the command. */
export const asFailure = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SecurityError) throw new Failure('security.refused', error.message)
    if (error instanceof IdentityUnreadableError) throw new Failure('identity.unavailable', error.message)
    if (error instanceof IdentityNotAdmittedError) throw new Failure('identity.not_admitted', error.message)
    if (error instanceof VaultUnreadableError) throw new Failure('vault.unavailable', error.message)
    if (error instanceof VaultEntryError) throw new Failure('vault.refused', error.message)
    throw error
  }
}
