import { createEphemeralIdentity } from '../../src/adapters/platform/identity/identity.ts'
import { createSigner } from '../../src/adapters/platform/identity/signer.ts'
import { createSystemClock } from '../../src/adapters/platform/clock/system-clock.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { EngineDependencies } from '../../src/engine/engine-dependencies.ts'
import type { Signer } from '../../src/ports/signer.ts'

const fail = (error: unknown): never => {
  throw error
}

export const benchSigner = (): Signer => createSigner(createEphemeralIdentity('bench'), fail)

export interface Bed {
  readonly engine: Engine
  close(): Promise<void>
}

/** An engine as the service runs it: SQLite with full durability, real signatures. */
export const openBed = async (
  path: string,
  signer: Signer,
  changes: Partial<Pick<EngineDependencies, 'clock' | 'configuration' | 'snapshotEveryEvents'>> = {},
): Promise<Bed> => {
  const log = await openSqliteLog({ path })
  const engine = await Engine.open({
    log,
    signer,
    clock: createSystemClock(),
    snapshotEveryEvents: 1_000_000_000,
    onError: (_, error) => fail(error),
    ...changes,
  })
  return {
    engine,
    close: async () => {
      await engine.close()
      await log.close()
    },
  }
}

/** Every caller waits for its answer before it asks again, as clients do. */
export const saturate = async (engine: Engine, callers: number, commands: number): Promise<void> => {
  let left = commands
  const call = async (caller: number): Promise<void> => {
    while (left > 0) {
      left -= 1
      const resource = `/signals/submit/${caller}/${left}/${PADDING}`
      const entry = {
        action: 'write',
        outcome: 'allowed',
        reason: null,
        request_id: 'bench',
        resource,
      } as const
      await engine.execute({ kind: 'record-access', surface: 'api', entry })
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
}

const PADDING = 'x'.repeat(160)
