import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { register, submit } from './acts.ts'
import { unprovable, type EventRecord } from './proof.ts'
import { newHome, startProcess, startService, svc, type RunningService, type Variables } from './service.ts'
import { onEveryStore } from './stores.ts'

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

  it('can be proved by anyone', async () => {
    const { items } = (await service.call('GET', '/events?order=asc')).body as {
      items: readonly EventRecord[]
    }
    expect(items.length).toBeGreaterThan(5)
    expect(unprovable(items)).toEqual([])
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

  it('is counted in the metrics, for those who have the token or for all', async () => {
    const headers = { authorization: '' }
    expect((await service.call('GET', '//metrics', { headers })).status).toBe(401)
    const open = await startService(await newHome(), { ...(await store()), SVC_METRICS__PUBLIC: 'true' })
    expect((await open.call('GET', '//metrics', { headers })).text).toContain('svc_kill_switch_level 0')
    await open.stop()
    const { text } = await service.call('GET', '//metrics')
    for (const name of [
      'svc_kill_switch_level 0',
      'svc_chain_ok 1',
      'svc_events_total',
      'svc_http_requests_total',
    ])
      expect(text).toContain(name)
  })

  it('takes parallel writes of two processes without a fork', async () => {
    await register(service, 'n1')
    const other = await startProcess(home, variables)
    const writers = Array.from({ length: 1000 }, (_, index) =>
      submit(index % 2 === 0 ? service : other, 'n1', { index }),
    )
    expect(new Set(await Promise.all(writers)).size).toBe(1000)
    expect((await other.call('GET', '/signals?limit=1')).body).toMatchObject({ total: 1000 })
    expect((await other.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    expect(await other.stop()).toBe(0)
  })

  it('is exported with everything a stranger needs to prove it offline', async () => {
    const file = join(home, 'log.jsonl')
    expect((await svc(home, ['export', 'events', '--output', file], variables)).exitCode).toBe(0)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    expect(unprovable(lines.map((line) => JSON.parse(line) as EventRecord))).toEqual([])
    expect((await svc(home, ['integrity', '--file', file])).exitCode).toBe(0)
  })

  it('replays to the same state', async () => {
    const replayed = await svc(home, ['replay', '--json'], variables)
    expect(JSON.parse(replayed.stdout)).toMatchObject({ identical: true })
  })

  it('stops cleanly', async () => {
    expect(await service.stop()).toBe(0)
  })
})
