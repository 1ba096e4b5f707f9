import { resolve } from 'node:path'
import { checkpointFile } from '../adapters/platform/checkpoint-file/checkpoint-file.ts'
import { describeIdentity } from '../adapters/platform/identity/identity-file.ts'
import { loadIdentity } from '../adapters/platform/identity/load-identity.ts'
import { logPins } from '../adapters/platform/identity/log-pins.ts'
import { createSigner } from '../adapters/platform/identity/signer.ts'
import { signatures } from '../adapters/platform/signatures/signatures.ts'
import { sqliteTarget } from '../adapters/storage/sqlite/sqlite-target.ts'
import type { Configuration } from '../core/config/schema.ts'
import { CHECKPOINT_PACE, createCheckpointer } from '../engine/integrity/checkpointer.ts'
import type { CheckpointStore } from '../ports/checkpoints.ts'
import type { LogTarget } from '../ports/log-target.ts'
import type { Signer } from '../ports/signer.ts'
import type { CopyTarget } from '../surfaces/cli/dependencies.ts'
import { UsageError } from '../surfaces/cli/failure.ts'
import type { Environment } from './environment.ts'
import { checkpointPath, databasePath, openStore, placeOf, sessionOn, urlWithPassword } from './store.ts'

const POSTGRES = /^postgres(ql)?:\/\//
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i

/** The store of this home, or a database (`postgres://…`) or file that is named. */
export const openCopyTarget = async (
  environment: Environment,
  configuration: Configuration,
  into: string | null,
): Promise<CopyTarget> => {
  const { home } = environment
  // Not repeated: it may hold a password. As the name of a file it would become one of folders.
  if (into !== null && ADDRESS.test(into) && !(POSTGRES.test(into) && URL.canParse(into)))
    throw new UsageError('--into must be a postgres:// or postgresql:// URL, or a file')
  const url = into ?? configuration.store.url
  const isPostgres = POSTGRES.test(url)
  const path = into === null ? databasePath(home) : resolve(into)
  const place = isPostgres ? placeOf({ ...configuration.store, url }) : path
  const checkpoints = checkpointsFor(environment, configuration, into)
  const pins = logPins(home)
  const store = async (kept: CheckpointStore) => ({
    ...(await openStore(environment, configuration)),
    checkpoints: kept,
  })
  return {
    ...(isPostgres ? await postgres(await urlWithPassword(url, environment)) : sqliteTarget({ path })),
    location: place,
    checkpoints,
    pinned: {
      here: into === null ? await pins.read(placeOf(configuration.store)) : null,
      elsewhere: await pins.all(),
    },
    openSession: async (kept) => sessionOn(environment, configuration, await store(kept)),
    signCheckpoint: async () => {
      if (checkpoints === null) return false
      const signer = await openSigner(environment, configuration)
      if (signer === null) return false
      const { log } = await store(checkpoints)
      try {
        const { clock } = environment
        const parts = { log, checkpoints, signer, signatures, clock, ...CHECKPOINT_PACE }
        const checkpointer = createCheckpointer(parts)
        const { seq } = await log.head()
        for (;;) {
          const step = await checkpointer.step('now')
          if (step.status === 'stopped') throw new Error(step.fault.detail)
          // A key that the log does not know signs nothing.
          if (step.status === 'idle') return false
          if (step.status === 'signed' && step.size >= seq) return true
        }
      } finally {
        await log.close()
        await signer.close()
      }
    },
  }
}

/** The driver is loaded only where it is used. */
const postgres = async (url: string): Promise<LogTarget> => {
  const { postgresTarget } = await import('../adapters/storage/postgres/postgres-target.ts')
  return postgresTarget({ url })
}

/** A database that is named may belong to any home; a file has its checkpoints beside it. */
const checkpointsFor = (
  { home }: Environment,
  { store }: Configuration,
  into: string | null,
): CheckpointStore | null => {
  if (into === null) return checkpointFile(checkpointPath(home, store))
  return POSTGRES.test(into) ? null : checkpointFile(`${resolve(into)}.checkpoints`)
}

/** Null where no identity is saved. */
const openSigner = async (
  { home, masterPassword: password, devMode, clock }: Environment,
  { identity: { node_prefix: nodePrefix } }: Configuration,
): Promise<Signer | null> => {
  if (!(await describeIdentity(home)).present) return null
  const { identity } = await loadIdentity({ home, password, devMode, nodePrefix, clock })
  return createSigner(identity, () => undefined)
}
