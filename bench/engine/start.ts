import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../../src/adapters/platform/logger/logger.ts'
import { openRunningEngine } from '../../src/compose/running-engine.ts'
import { openStore } from '../../src/compose/store.ts'
import { environmentOf } from '../../src/compose/environment.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { interleave, medianRatio, type BenchRow } from '../harness.ts'
import { saturate } from './saturate.ts'

/** Time from a closed log to a running engine that has verified the log and recorded its start. */
export const benchStart = async (events = 1_000_000, rounds = 7): Promise<readonly BenchRow[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-start-'))
  try {
    const long = join(folder, 'long')
    await startAt(long, (engine) => saturate(engine, 1000, events))
    // Once more before the clock: the first start after a long life makes the checkpoints it left undone.
    await startAt(long)
    let round = 0
    const measured = await interleave(rounds, {
      empty: () => startAt(join(folder, `empty-${(round += 1)}`)),
      long: () => startAt(long),
    })
    return [
      {
        id: 'start',
        what: `start with ${events} events and a snapshot`,
        value: medianRatio(measured.long, measured.empty),
        target: '<= 3 (time)',
        baseline: 'start of an empty store',
      },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

type Running = Awaited<ReturnType<typeof openRunningEngine>>

/** Milliseconds from nothing to running. */
const startAt = async (
  home: string,
  work: (engine: Running['engine']) => Promise<void> = () => Promise.resolve(),
): Promise<number> => {
  await mkdir(home, { recursive: true })
  const environment = environmentOf(home, { SVC_DEV_MODE: '1' }, 'bench')
  const { clock } = environment
  const logger = createLogger({ level: 'ERROR', jsonOutput: false, secrets: [], clock })
  const begin = performance.now()
  const store = await openStore(environment, DEFAULT_CONFIGURATION)
  const running = await openRunningEngine({
    environment,
    configuration: DEFAULT_CONFIGURATION,
    settings: () => DEFAULT_CONFIGURATION,
    store,
    logger,
    announce: 'always',
  })
  const elapsedMs = performance.now() - begin
  await work(running.engine)
  await running.close()
  await store.log.close()
  return elapsedMs
}
