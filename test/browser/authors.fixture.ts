import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { loadIdentity } from '../../src/adapters/platform/identity/load-identity.ts'
import { createSigner } from '../../src/adapters/platform/identity/signer.ts'
import { signatures } from '../../src/adapters/platform/signatures/signatures.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { databasePath } from '../../src/compose/store.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { Engine } from '../../src/engine/engine.ts'
import { playAuthorCalls, PLAYED_DAY_MS } from '../author-calls.fixture.ts'
import { newHome } from '../interface/service.ts'
import { testClock } from '../signer.fixture.ts'

const MINUTE_MS = 60_000

const failLoudly = (error: unknown): never => {
  throw error instanceof Error ? error : new Error(String(error))
}

/** A home whose log holds authors and their past calls. Calls take a day to resolve, which tests cannot wait for. */
export const homeWithAuthors = async (
  days: number,
  names?: Parameters<typeof playAuthorCalls>[2],
): Promise<string> => {
  const home = await newHome()
  // Bars begin with a minute.
  const begin = Date.now() - days * PLAYED_DAY_MS - MINUTE_MS
  const clock = testClock(begin - (begin % MINUTE_MS))
  const identityOptions = { home, password: undefined, devMode: true, nodePrefix: 'svc', clock }
  const signer = createSigner((await loadIdentity(identityOptions)).identity, failLoudly)
  await mkdir(dirname(databasePath(home)), { recursive: true })
  const log = await openSqliteLog({ path: databasePath(home) })
  const engine = await Engine.open({
    log,
    signer,
    isSigned: (item) => signatures.isSigned(item),
    clock,
    snapshotEveryEvents: 1_000_000,
    configuration: () => DEFAULT_CONFIGURATION,
    onError: (_what, error) => failLoudly(error),
  })
  const execute = async (command: Parameters<Engine['execute']>[0]): Promise<void> => {
    const outcome = await engine.execute(command)
    if (outcome.status === 'refused') throw new Error(outcome.refusal.code)
  }
  const integrity = { ok: true, reason: null, first_bad_seq: null }
  const { nodeId: node_id, publicKey: public_key } = signer
  await execute({
    kind: 'start',
    started: { version: '0.0.0', node_id, public_key, ephemeral: false, integrity },
  })
  await playAuthorCalls({ execute, now: () => clock.now(), wait: (ms) => clock.advance(ms) }, days, names)
  await engine.close()
  await log.close()
  await signer.close()
  return home
}
