import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { testClock, testSigner } from '../../../../test/signer.fixture.ts'
import { programOf } from '../../../../test/program.fixture.ts'
import { openSqliteLog } from '../../../adapters/storage/sqlite/sqlite-log.ts'
import { Engine } from '../../../engine/engine.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'
import { connectClient } from './stream-client.fixture.ts'

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).toReversed()) await clean()
})

const startOnFile = async (): Promise<{ readonly server: TestServer; readonly path: string }> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-stream-'))
  cleanUp.push(() => rm(folder, { recursive: true }))
  const path = join(folder, 'events.db')
  const log = await openSqliteLog({ path })
  cleanUp.push(() => log.close())
  const server = await startTestServer({ log })
  cleanUp.push(() => server.close())
  return { server, path }
}

const idsBehind = async (server: TestServer, after: number): Promise<readonly string[]> =>
  (await server.log.read({ after, order: 'asc', limit: 100_000 })).map(({ id }) => id)

const move = (level: 0 | 1 | 2 | 3, reason: string) =>
  ({ kind: 'set-kill-switch', move: { level, reason, operator: 'svc-1', surface: 'cli' } }) as const

describe('what others write into the same file', () => {
  it('is sent like our own: another engine', async () => {
    const { server, path } = await startOnFile()
    const log = await openSqliteLog({ path })
    cleanUp.push(() => log.close())
    const other = await Engine.open({
      log,
      signer: testSigner(2),
      clock: testClock(),
      snapshotEveryEvents: 1000,
      onError: (what, error) => {
        throw new Error(what, { cause: error })
      },
    })
    cleanUp.push(() => other.close())
    const before = (await server.engine.fresh()).seq
    const client = await connectClient(server)
    for (let turn = 0; turn < 20; turn += 1) {
      const mine = server.engine.execute(move(1, `mine ${turn}`))
      const theirs = other.execute(move(turn % 2 === 0 ? 2 : 0, `theirs ${turn}`))
      await Promise.all([mine, theirs])
    }
    const ids = await idsBehind(server, before)
    await client.until(() => client.messages.length >= ids.length)
    expect(client.messages.map(({ id }) => id)).toEqual(ids)
    client.close()
  })

  it('is sent like our own: another process', async () => {
    const { server, path } = await startOnFile()
    const before = (await server.engine.fresh()).seq
    const client = await connectClient(server)
    const writer = spawn(process.execPath, [programOf('crash/writer-process'), path, '4'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(writer, 'close')
    const received = (by: string): number =>
      client.messages.filter(({ data }) => String(data.payload['reason']).startsWith(by)).length
    for (let turn = 0; received('caller ') < 200; turn += 1) {
      await server.engine.execute(move(turn % 2 === 0 ? 3 : 0, `mine ${turn}`))
      await sleep(5)
    }
    writer.kill('SIGKILL')
    await ended
    const ids = await idsBehind(server, before)
    await client.until(() => client.messages.length >= ids.length)
    expect(client.messages.map(({ id }) => id)).toEqual(ids)
    expect(received('mine ')).toBeGreaterThan(0)
    client.close()
  })
})
