import { createPublicKey, hash, verify } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cleanUp, newHome, startService, svc, type RunningService, type Variables } from './service.ts'
import { onEveryStore } from './stores.ts'

interface EventRecord {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly ts: string
  readonly schema_version: string
  readonly source: string | null
  readonly trace_id: string | null
  readonly dedupe_key: string | null
  readonly payload: { readonly public_key: string }
  readonly prev_hash: string
  readonly hash: string
  readonly signature: string
  readonly signer: string
}

/** As an outsider would, with nothing of ours: the rule of the contract, written again. */
const expectProvable = (records: readonly EventRecord[]): void => {
  const keys = new Map<string, string>()
  for (const [index, record] of records.entries()) {
    expect(record).toMatchObject({
      seq: index + 1,
      schema_version: 'v1',
      prev_hash: records[index - 1]?.hash ?? '',
    })
    const payload = canonicalize(record.payload) ?? ''
    const { ts, id, type, schema_version, source, trace_id, dedupe_key } = record
    const parts = [
      record.prev_hash,
      ts,
      id,
      type,
      schema_version,
      source ?? '',
      trace_id ?? '',
      dedupe_key ?? '',
      payload,
    ]
    expect(hash('sha256', parts.join('|'), 'hex')).toBe(record.hash)
    if (type === 'system.started.v1') keys.set(record.signer, record.payload.public_key)
    const spki = Buffer.from(`302a300506032b6570032100${keys.get(record.signer)}`, 'hex')
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    expect(verify(null, Buffer.from(payload), key, Buffer.from(record.signature, 'hex'))).toBe(true)
  }
}

onEveryStore('the log', (store) => {
  let variables: Variables
  let home: string
  let service: RunningService
  beforeAll(async () => {
    variables = await store()
    home = await newHome()
    service = await startService(home, variables)
    for (const level of [1, 2, 0]) {
      await service.call('POST', '/kill-switch', {
        body: { level, reason: 'Größe "x" | \u{1f600}' },
        headers: { 'x-trace-id': 't-1' },
      })
    }
  })

  it('A110, A111: can be proved by anyone', async () => {
    const { items } = (await service.call('GET', '/events?order=asc')).body as {
      items: readonly EventRecord[]
    }
    expect(items.length).toBeGreaterThan(5)
    expectProvable(items)
    expect((await service.call('GET', `/events/${items[1]?.id}`)).body).toEqual(items[1])
    expect((await service.call('GET', '/events/none')).body).toMatchObject({
      status: 404,
      code: 'event.not_found',
      event_id: 'none',
    })
    expect(items.filter(({ trace_id }) => trace_id === 't-1').length).toBeGreaterThanOrEqual(5)
  })

  it('is read in pages that neither miss nor repeat', async () => {
    const seen: number[] = []
    let next: number | null = 0
    while (next !== null) {
      const page = (await service.call('GET', `/events?order=asc&limit=2&after_seq=${next}`)).body as {
        items: readonly EventRecord[]
        next_seq: number | null
      }
      seen.push(...page.items.map(({ seq }) => seq))
      next = page.next_seq
    }
    expect(seen).toEqual(Array.from(seen, (_, index) => index + 1))
    expect((await service.call('GET', '/events?since=unknown')).status).toBe(404)
    for (const query of ['limit=501', 'limit=0', 'limit=abc', 'limit=', 'order=up', 'after_seq=-x']) {
      expect((await service.call('GET', `/events?${query}`)).body).toMatchObject({
        status: 422,
        code: 'request.invalid',
      })
    }
  })

  it('verifies, fast and full', async () => {
    for (const mode of ['fast', 'full']) {
      const { body } = await service.call('GET', `/integrity?mode=${mode}`)
      expect(body).toMatchObject({ ok: true, mode, first_bad_id: null, reason: null })
    }
  })

  it('A117: is counted in the metrics', async () => {
    const { text } = await service.call('GET', '//metrics')
    for (const name of [
      'svc_kill_switch_level 0',
      'svc_chain_ok 1',
      'svc_events_total',
      'svc_http_requests_total',
    ])
      expect(text).toContain(name)
  })

  it('A113: takes parallel writes of two processes without a fork', async () => {
    const other = await startService(home, variables)
    const write = (writer: RunningService, index: number) =>
      writer.call('POST', '/kill-switch', { body: { level: index % 4, reason: `write ${index}` } })
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) => write(index % 2 === 0 ? service : other, index)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await other.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    expect(await other.stop()).toBe(0)
  })

  it('is exported with everything a stranger needs to prove it offline', async () => {
    const file = join(home, 'log.jsonl')
    expect(svc(home, ['export', 'events', '--output', file], variables).exitCode).toBe(0)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expectProvable(lines.map((line) => JSON.parse(line) as EventRecord))
    expect(svc(home, ['integrity', '--file', file]).exitCode).toBe(0)
  })

  it('A121: replays to the same state', () => {
    const replayed = svc(home, ['replay', '--json'], variables)
    expect(JSON.parse(replayed.stdout)).toMatchObject({ identical: true })
  })

  it('stops cleanly', async () => {
    expect(await service.stop()).toBe(0)
  })
})

describe('a damaged log', () => {
  afterAll(cleanUp)

  const writtenHome = async (): Promise<string> => {
    const home = await newHome()
    const service = await startService(home)
    for (const level of [1, 2, 0])
      await service.call('POST', '/kill-switch', { body: { level, reason: 'x' } })
    await service.stop()
    return home
  }
  const edit = (home: string, sql: string): void => {
    const database = new DatabaseSync(join(home, 'data', 'events.db'))
    database.exec('DROP TRIGGER events_no_update; DROP TRIGGER events_no_delete')
    database.exec(sql)
    database.close()
  }

  it('A112: is found, starts locked, and says what is wrong', async () => {
    const home = await writtenHome()
    edit(
      home,
      'UPDATE events SET payload = replace(payload, \'"reason":"x"\', \'"reason":"y"\') WHERE seq = 3',
    )
    const checked = svc(home, ['integrity', '--json'])
    expect(checked.exitCode).toBe(1)
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: false, reason: 'hash', first_bad_seq: 3 })

    const service = await startService(home)
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({
      level: 3,
      reason: 'integrity_failed',
    })
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({
      ok: false,
      reason: 'hash',
      first_bad_seq: 3,
    })
    expect((await service.call('GET', '//metrics')).text).toContain('svc_chain_ok 0')
    const { items } = (await service.call('GET', '/events?type=system.started')).body as {
      items: { payload: object }[]
    }
    expect(items[0]?.payload).toMatchObject({ integrity: { ok: false, reason: 'hash', first_bad_seq: 3 } })
    expect(service.output()).toContain('does not verify')
    await service.stop()
  })

  it('that lost its end is found by its checkpoint', async () => {
    const home = await writtenHome()
    edit(home, 'DELETE FROM events WHERE seq > 5')
    const checked = svc(home, ['integrity', '--json'])
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: false, reason: 'truncated' })
    const service = await startService(home)
    expect((await service.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
    await service.stop()
  })

  it('that is an older copy is found, and an operator may accept the loss', async () => {
    const home = await newHome()
    const file = join(home, 'data', 'events.db')
    await (await startService(home)).stop()
    copyFileSync(file, `${file}.old`)
    const service = await startService(home)
    await service.call('POST', '/kill-switch', { body: { level: 1, reason: 'lost' } })
    await service.stop()
    expect(existsSync(`${file}-wal`) && statSync(`${file}-wal`).size > 0).toBe(false)
    copyFileSync(`${file}.old`, file)
    expect(JSON.parse(svc(home, ['integrity', '--fast', '--json']).stdout)).toMatchObject({
      ok: false,
      reason: 'truncated',
    })
    expect(svc(home, ['integrity', '--accept-loss', '--reason', 'restored a backup']).exitCode).toBe(0)
    const started = await startService(home)
    expect((await started.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await started.stop()
  })
})
