import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import type { KillSwitchLevel } from '../../src/core/shared/level.ts'
import { Engine } from '../../src/engine/engine.ts'
import { testClock, testSigner } from '../signer.fixture.ts'

/** Writes as fast as it can through the engine, and says each event id only after it was acknowledged. */
const [path = '', callers = '16'] = process.argv.slice(2)

const log = await openSqliteLog({ path })
const engine = await Engine.open({
  log,
  signer: testSigner(),
  clock: testClock(Date.now()),
  snapshotEveryEvents: 50,
  onError: (what, error) => process.stderr.write(`${what}: ${String(error)}\n`),
})

const write = async (caller: number): Promise<never> => {
  for (let turn = 0; ; turn += 1) {
    const level = ((caller + turn) % 4) as KillSwitchLevel
    const move = {
      level,
      reason: `caller ${caller}, turn ${turn}`,
      operator: 'svc-1',
      surface: 'api' as const,
    }
    const outcome = await engine.execute({ kind: 'set-kill-switch', move })
    if (outcome.status !== 'done') throw new Error('a move was refused')
    const ids = outcome.events.map(({ seq, id }) => `${seq} ${id}`)
    if (ids.length > 0) process.stdout.write(`${ids.join('\n')}\n`)
  }
}

await Promise.all(Array.from({ length: Number(callers) }, (_, caller) => write(caller)))
