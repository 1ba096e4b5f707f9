import { chmodSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { signatures } from '../../src/adapters/platform/signatures/signatures.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { EMPTY_HEAD, headOf, type Head, type LogRecord } from '../../src/core/log/event.ts'
import { catchUp, EMPTY_MEMORY, snapshotOf } from '../../src/engine/memory.ts'
import { register, submit } from '../interface/acts.ts'
import { cleanUp, copyOf, newHome, startService, svc, TOKEN } from '../interface/service.ts'
import { nodeOf, rechained, recordsOf, resigned, started } from './signed-log.fixture.ts'

/*
 * Attacks by a forger with write access to the data folder, but without the key and the identity folder. Every attack
 * is made on the files of a real service.
 */
const SAVED = { SVC_DEV_MODE: '1' }
const outsider = nodeOf(9)
const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url))

const fileIn = (home: string): string => join(home, 'data', 'events.db')

const readAll = async (home: string): Promise<readonly LogRecord[]> => {
  const log = await openSqliteLog({ path: fileIn(home) })
  const records = await log.read({ order: 'asc', limit: 10_000 })
  await log.close()
  return records
}

/** Appends records as another process would. The database allows it. */
const smuggle = async (home: string, records: readonly LogRecord[], expected: Head): Promise<void> => {
  const log = await openSqliteLog({ path: fileIn(home) })
  expect(await log.append(records, expected)).toEqual({ status: 'appended' })
  await log.close()
}

const levelOf = async (service: Awaited<ReturnType<typeof startService>>): Promise<number> =>
  ((await service.call('GET', '/kill-switch')).body as { level: number }).level

const raise = async (service: Awaited<ReturnType<typeof startService>>, level: number): Promise<void> => {
  expect((await service.call('POST', '/kill-switch', { body: { level, reason: 'x' } })).status).toBe(200)
}

const integrity = async (home: string, ...words: readonly string[]) => {
  const { exitCode, stdout } = await svc(home, ['integrity', '--json', ...words], SAVED)
  return { exitCode, report: JSON.parse(stdout) as Record<string, unknown> }
}

/** A copy of an old signed event under a new id, chained to the head. */
const replayed = (
  records: readonly LogRecord[],
  wanted: (record: LogRecord) => boolean,
): readonly LogRecord[] => {
  const last = records.at(-1)!
  const old = records.find(wanted)!
  return rechained([{ ...old, id: 'replayed', dedupeKey: null, recordedAt: last.recordedAt }], headOf(last))
}

const isLowering = ({ type, payload }: LogRecord): boolean =>
  type === 'system.kill_switch.v1' && payload.includes('"level":0')

/** Messages that a client of the event stream receives. */
const openStream = async (service: Awaited<ReturnType<typeof startService>>, query = '') => {
  const abort = new AbortController()
  const response = await fetch(`${service.baseUrl}/events/stream${query}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: abort.signal,
  })
  expect(response.status).toBe(200)
  let text = ''
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  }
  // The reader ends with an error when it is aborted.
  read().catch(() => undefined)
  return { text: () => text, close: () => abort.abort() }
}

/** A home whose kill switch was moved to 1, 0 and 2, with one contributor. Its service does not run. */
const stoppedHome = async (): Promise<string> => copyOf(await (stopped ??= makeStopped()))

let stopped: Promise<string> | undefined

const makeStopped = async (): Promise<string> => {
  const home = await newHome()
  const service = await startService(home, SAVED)
  await register(service, 'n1')
  for (const level of [1, 0, 2]) await raise(service, level)
  await service.stop()
  return home
}

afterAll(cleanUp)

describe('an old signed event, appended again under a new id', () => {
  it('does not lower the kill switch of a running service, which locks itself', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    await raise(service, 1)
    await raise(service, 0)
    await raise(service, 2)
    const records = await readAll(home)
    await smuggle(home, replayed(records, isLowering), headOf(records.at(-1)!))
    await expect.poll(() => levelOf(service)).toBe(3)
    expect((await service.call('GET', '/integrity')).body).toMatchObject({ ok: false, reason: 'signature' })
    expect(service.output()).toContain('not signed by an accepted key')
    await service.stop()
    const { exitCode, report } = await integrity(home)
    expect(exitCode).toBe(1)
    expect(report).toMatchObject({ ok: false, reason: 'signature', first_bad_id: 'replayed' })
  })

  it('is not believed by the next start either', async () => {
    const home = await stoppedHome()
    const records = await readAll(home)
    await smuggle(home, replayed(records, isLowering), headOf(records.at(-1)!))
    const after = await startService(home, SAVED)
    expect(await levelOf(after)).toBe(3)
    await after.stop()
  })
})

describe('a forged signal', () => {
  it('is listed as what it is, and shown, streamed and proved to nobody, also after a restart', async () => {
    const home = await newHome()
    let service = await startService(home, SAVED)
    await register(service, 'n1')
    const call = { symbol: 'BTC', direction: 'bullish', conviction: 7 } as const
    const id = await submit(service, 'n1', call)
    const stream = await openStream(service)
    const records = await readAll(home)
    await smuggle(
      home,
      replayed(records, (record) => record.id === id),
      headOf(records.at(-1)!),
    )
    await expect.poll(() => levelOf(service)).toBe(3)
    const honest = await register(service, 'n2')
    await expect.poll(() => stream.text()).toContain(honest)
    stream.close()
    expect(stream.text()).not.toContain('replayed')

    for (const round of ['running', 'restarted']) {
      const events = (await service.call('GET', '/events?type=signal')).body as {
        items: { id: string; verified?: boolean }[]
      }
      const shown = events.items.map(({ id: eventId, verified }) => [eventId, verified])
      expect(shown, round).toEqual([
        ['replayed', false],
        [id, undefined],
      ])
      expect((await service.call('GET', '/events/replayed')).body).toMatchObject({ verified: false })
      const signals = JSON.stringify((await service.call('GET', '/signals')).body)
      expect([signals.includes(id), signals.includes('replayed')]).toEqual([true, false])
      expect((await service.call('GET', '/signals/replayed/attribution')).status).toBe(404)
      const resumed = await openStream(service, `?since=${id}`)
      await expect.poll(() => resumed.text()).toContain(honest)
      resumed.close()
      expect([resumed.text().includes(id), resumed.text().includes('replayed')]).toEqual([true, false])
      expect((await service.call('GET', '/events/replayed/proof')).body).toMatchObject({
        code: 'proof.unavailable',
      })
      await service.stop()
      if (round === 'running') service = await startService(home, SAVED)
    }
    expect(await svc(home, ['prove', 'replayed'], SAVED)).toMatchObject({ exitCode: 1 })
    expect(await svc(home, ['prove', id], SAVED)).toMatchObject({ exitCode: 0 })
  })
})

describe('a foreign key', () => {
  it('is not believed because a foreign start says so', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    await raise(service, 2)
    const head = headOf((await readAll(home)).at(-1)!)
    const said = [
      started(outsider),
      { type: 'system.kill_switch.v1', payload: { level: 0, prev_level: 2, reason: 'free' }, source: 'api' },
    ]
    const forged = (await recordsOf(said, outsider, head)).map((record) => ({
      ...record,
      recordedAt: head.recordedAt,
    }))
    await smuggle(home, await resigned(rechained(forged, head), outsider), head)
    await expect.poll(() => levelOf(service)).toBe(3)
    await service.stop()
    expect((await integrity(home)).report).toMatchObject({
      ok: false,
      reason: 'signature',
      first_bad_seq: head.seq + 1,
    })
  })

  it('cannot admit itself', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    const head = headOf((await readAll(home)).at(-1)!)
    const { nodeId: node_id, publicKey: public_key } = outsider
    const admit = {
      type: 'system.key_admitted.v1',
      payload: { node_id, public_key, reason: 'me' },
      source: 'cli',
    }
    const forged = (await recordsOf([admit], outsider, head)).map((record) => ({
      ...record,
      recordedAt: head.recordedAt,
    }))
    await smuggle(home, await resigned(rechained(forged, head), outsider), head)
    await expect.poll(() => levelOf(service)).toBe(3)
    await service.stop()
    expect((await integrity(home)).report).toMatchObject({ ok: false, reason: 'signature' })
  })

  it('does not get a log that is rewritten as a whole past the node, checkpoints deleted', async () => {
    const home = await stoppedHome()
    const own = JSON.parse(readFileSync(join(home, 'identity', 'identity.json'), 'utf8')) as {
      node_id: string
      public_key: string
    }
    // The forger also admits the node's own key, so that the node would be accepted.
    const admitted = { node_id: own.node_id, public_key: own.public_key, reason: 'welcome' }
    const said = [
      { ...started(outsider), payload: { ...started(outsider).payload, ephemeral: false } },
      { type: 'system.key_admitted.v1', payload: admitted, source: 'cli' },
    ]
    const records = await recordsOf(said, outsider)
    for (const end of ['', '-wal', '-shm', '.checkpoints']) rmSync(fileIn(home) + end, { force: true })
    await smuggle(home, records, EMPTY_HEAD)
    const { exitCode, report } = await integrity(home)
    expect(exitCode).toBe(1)
    expect(report).toMatchObject({ ok: false, reason: 'truncated', first_bad_seq: 1 })
    expect(report['detail']).toContain('it was exchanged')
    const after = await startService(home, SAVED)
    expect(await levelOf(after)).toBe(3)
    await after.stop()
  })
})

describe('a forged snapshot', () => {
  it('is not believed at the start, and every way to verify names it', async () => {
    const home = await stoppedHome()
    const log = await openSqliteLog({ path: fileIn(home) })
    const memory = await catchUp(log, EMPTY_MEMORY, { trust: { signatures, own: null, firstHash: null } })
    expect(memory.state.trading.killSwitch.level).toBe(2)
    const { trading } = memory.state
    const state = {
      ...memory.state,
      trading: { ...trading, killSwitch: { ...trading.killSwitch, level: 0 as const } },
    }
    await log.saveSnapshot(snapshotOf({ ...memory, state }, outsider))
    await log.close()
    expect(await integrity(home)).toMatchObject({
      exitCode: 1,
      report: { ok: false, checks: { projections: 'fail' } },
    })
    const after = await startService(home, SAVED)
    expect(await levelOf(after)).toBe(3)
    for (const mode of ['fast', 'full'])
      expect((await after.call('GET', `/integrity?mode=${mode}`)).body).toMatchObject({
        ok: false,
        reason: 'snapshot',
      })
    await after.stop()
  })
})

describe('checkpoints', () => {
  it('that are deleted are missed', async () => {
    const home = await stoppedHome()
    expect((await integrity(home)).report).toMatchObject({ ok: true })
    rmSync(`${fileIn(home)}.checkpoints`)
    expect(await integrity(home)).toMatchObject({ exitCode: 1, report: { ok: false, reason: 'checkpoint' } })
  })

  it('that are replaced by an older copy are missed after the next start', async () => {
    const home = await stoppedHome()
    const notes = `${fileIn(home)}.checkpoints`
    copyFileSync(notes, `${notes}.old`)
    const second = await startService(home, SAVED)
    await register(second, 'n2')
    await second.stop()
    await (await startService(home, SAVED)).stop()
    renameSync(`${notes}.old`, notes)
    expect(await integrity(home)).toMatchObject({ exitCode: 1, report: { ok: false, reason: 'checkpoint' } })
  })

  it('kept elsewhere show a log that was turned back together with its own', async () => {
    const home = await stoppedHome()
    const kept = ['events.db', 'events.db.checkpoints'].map((name) => join(home, 'data', name))
    for (const file of kept) copyFileSync(file, `${file}.old`)
    const second = await startService(home, SAVED)
    await submit(second, 'n1', { rationale: 'later' })
    await second.stop()
    const copy = join(home, 'copy.checkpoint')
    copyFileSync(`${fileIn(home)}.checkpoints`, copy)
    for (const file of kept) renameSync(`${file}.old`, file)
    for (const end of ['-wal', '-shm', '.head']) rmSync(fileIn(home) + end, { force: true })
    expect((await integrity(home)).report).toMatchObject({ ok: true })
    expect(await integrity(home, '--checkpoint', copy)).toMatchObject({
      exitCode: 1,
      report: { ok: false, reason: 'truncated' },
    })
    const nothing = await svc(home, ['integrity', '--checkpoint', join(home, 'none')], SAVED)
    expect(nothing).toMatchObject({ exitCode: 1 })
    expect(nothing.stderr).toContain('cannot read the checkpoint')
  })

  it('are posted to the webhook, which can then be asked', async () => {
    const posted: string[] = []
    const server = createServer((request, response) => {
      request.setEncoding('utf8')
      let body = ''
      request.on('data', (text: string) => (body += text))
      request.on('end', () => {
        if (request.method === 'POST') posted.push(body)
        response.end(posted.at(-1) ?? '')
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const home = await newHome()
    const service = await startService(home, { ...SAVED, SVC_STORE__CHECKPOINT_WEBHOOK: url })
    await register(service, 'n1')
    await service.stop()
    expect(posted.at(-1)).toMatch(/^signal-engine\/events\//)
    // Runs asynchronously, because this process must answer the command.
    const words = [SVC, '--home', home, 'integrity', '--json', '--checkpoint', url]
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      env: { ...process.env, ...SAVED },
    })
    expect(JSON.parse(stdout)).toMatchObject({ ok: true })
    server.close()
  })
})

describe('the identity', () => {
  it('that is missing under an existing log is refused, not replaced', async () => {
    const home = await stoppedHome()
    const path = join(home, 'identity', 'identity.json')
    renameSync(path, `${path}.kept`)
    const refused = await svc(home, ['serve', '--no-dashboard'], {
      ...SAVED,
      SVC_API__PORT: '0',
      SVC_API__AUTH_TOKEN: 'a-token-of-more-than-thirty-two-characters',
    })
    expect(refused.exitCode).not.toBe(0)
    expect(refused.stderr).toContain('identity/identity.json is missing')
    // A command reports the same as the service, and neither replaces the key.
    const command = await svc(home, ['kill-switch', 'set', '1'], SAVED)
    expect([command.exitCode, command.stderr]).toEqual([
      1,
      expect.stringContaining('identity/identity.json is missing'),
    ])
    expect(existsSync(path)).toBe(false)
    const pins = join(home, 'identity', 'logs.json')
    renameSync(pins, `${pins}.kept`)
    const replaced = await svc(home, ['kill-switch', 'set', '1'], SAVED)
    expect([replaced.exitCode, replaced.stderr]).toEqual([
      1,
      expect.stringContaining('does not accept the key of'),
    ])
    expect(replaced.stderr).toContain('svc identity admit')
    rmSync(path)
    renameSync(`${pins}.kept`, pins)
    renameSync(`${path}.kept`, path)
    chmodSync(path, 0o644)
    const open = await svc(home, ['kill-switch', 'set', '1'], SAVED)
    expect([open.exitCode, open.stderr]).toEqual([1, expect.stringContaining('chmod 600')])
    chmodSync(path, 0o600)
    await (await startService(home, SAVED)).stop()
  })

  it('of another node may write once it is admitted, and no longer when it is retired', async () => {
    const home = await newHome()
    const other = await newHome()
    await (await startService(home, SAVED)).stop()
    const show = async (of: string) =>
      JSON.parse((await svc(of, ['identity', 'show', '--json'], SAVED)).stdout) as {
        node_id: string
        public_key: string
      }
    expect((await svc(other, ['identity', 'create', '--dev'], SAVED)).exitCode).toBe(0)
    const { node_id, public_key } = await show(other)
    const swap = (): void => {
      const [mine, theirs] = [home, other].map((folder) => join(folder, 'identity', 'identity.json')) as [
        string,
        string,
      ]
      renameSync(mine, `${mine}.x`)
      renameSync(theirs, mine)
      renameSync(`${mine}.x`, theirs)
    }
    expect((await svc(home, ['identity', 'admit', node_id, 'ff'.repeat(32)], SAVED)).stderr).toContain(
      'not the node id',
    )
    expect((await svc(home, ['identity', 'admit', node_id, public_key], SAVED)).exitCode).toBe(0)
    expect((await svc(home, ['identity', 'admit', node_id, public_key], SAVED)).stderr).toContain(
      'accepted already',
    )
    swap()
    const admitted = await startService(home, SAVED)
    await register(admitted, 'n1')
    await admitted.stop()
    swap()
    expect((await integrity(home)).report).toMatchObject({ ok: true })
    expect((await svc(home, ['identity', 'retire', node_id, '--reason', 'left'], SAVED)).exitCode).toBe(0)
    swap()
    const refused = await svc(
      home,
      ['contributors', 'register', '--node-id', 'n2', '--name', 'N', '--role', 'curator'],
      SAVED,
    )
    expect(refused.stderr).toContain('was retired')
    swap()
    expect((await integrity(home)).report).toMatchObject({ ok: true })
  })

  it('is rotated by an event of the old key, which then counts no more', async () => {
    const home = await newHome()
    const service = await startService(home, SAVED)
    expect((await svc(home, ['identity', 'rotate', '--reason', 'yearly'], SAVED)).stderr).toContain(
      'is running',
    )
    await service.stop()
    const before = readFileSync(join(home, 'identity', 'identity.json'), 'utf8')
    const { exitCode, stdout } = await svc(
      home,
      ['identity', 'rotate', '--reason', 'yearly', '--json'],
      SAVED,
    )
    expect(exitCode).toBe(0)
    const { node_id, retired } = JSON.parse(stdout) as { node_id: string; retired: string }
    expect(existsSync(join(home, 'identity', `${retired}.retired.json`))).toBe(true)
    const after = await startService(home, SAVED)
    await register(after, 'n1')
    await after.stop()
    const records = await readAll(home)
    expect(records.at(-1)?.signer).toBe(node_id)
    expect(records.find(({ type }) => type === 'system.key_retired.v1')?.signer).toBe(retired)
    expect((await integrity(home)).report).toMatchObject({ ok: true })
    writeFileSync(join(home, 'identity', 'identity.json'), before)
    expect(
      (
        await svc(
          home,
          ['contributors', 'register', '--node-id', 'n2', '--name', 'N', '--role', 'curator'],
          SAVED,
        )
      ).stderr,
    ).toContain('was retired')
  })
})

it('finds an index that was dropped, and "svc doctor --repair" makes it anew', async () => {
  const home = await stoppedHome()
  const raw = new DatabaseSync(fileIn(home))
  raw.exec('DROP INDEX events_dedupe_key')
  raw.close()
  const doctor = (...words: readonly string[]) => svc(home, ['doctor', ...words], SAVED)
  const found = await doctor()
  expect([found.exitCode, found.stdout]).toEqual([1, expect.stringContaining('svc doctor --repair')])
  expect((await doctor('--repair')).exitCode).toBe(0)
  expect((await integrity(home)).report).toMatchObject({ ok: true })
})

it('finds a row of the database that was changed where it stands', async () => {
  const home = await newHome()
  const before = await startService(home, SAVED)
  await raise(before, 2)
  await before.stop()
  const raw = new DatabaseSync(fileIn(home))
  raw.exec('DROP TRIGGER events_no_update')
  raw.exec(
    `UPDATE events SET payload = replace(payload, '"level":2', '"level":0') WHERE type = 'system.kill_switch.v1'`,
  )
  raw.exec('DELETE FROM snapshots')
  raw.close()
  const after = await startService(home, SAVED)
  expect(await levelOf(after)).toBe(3)
  await after.stop()
})
