import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { cleanUp, newHome, startService, svc, type RunningService, type Variables } from './service.ts'
import { onDefaultStore } from './stores.ts'

interface StoredEvent {
  readonly seq: number
  readonly type: string
  readonly source: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly signer: string
}

/** A home with a saved identity, so that every process here is the same node. */
const prepare = async (variables: Variables = {}) => {
  const home = await newHome()
  expect((await svc(home, ['init', '--dev'], variables)).exitCode).toBe(0)
  const run = (...words: readonly string[]) => svc(home, [...words, '--json'], variables)
  const answerOf = async (...words: readonly string[]) => {
    const { exitCode, stdout, stderr } = await run(...words)
    expect([exitCode, stderr], words.join(' ')).toEqual([0, ''])
    return JSON.parse(stdout) as never
  }
  return { home, run, answerOf }
}

const eventsAfter = async (service: RunningService, seq: number): Promise<readonly StoredEvent[]> => {
  const { body } = await service.call('GET', '/events?order=asc&limit=500')
  return (body as { items: StoredEvent[] }).items.filter((event) => event.seq > seq)
}

const headOf = async (service: RunningService): Promise<number> =>
  (await eventsAfter(service, 0)).at(-1)?.seq ?? 0

const shapeOf = ({ type, source, payload }: StoredEvent) => ({
  type,
  source,
  members: Object.keys(payload).sort(),
})

onDefaultStore('svc signal', (store) => {
  it('submits what POST /signals/submit submits, seen at once', async () => {
    const variables = await store()
    const { home, answerOf } = await prepare(variables)
    const service = await startService(home, variables)
    const [operator] = (await service.call('GET', '/contributors')).body as { id: string; node_id: string }[]
    const payload = { symbol: 'BTC', direction: 'bullish', conviction: 7, rationale: 'BTC up' }

    const before = await headOf(service)
    const words = ['signal', 'BTC up', '--direction', 'bullish', '--conviction', '7', '--dedupe-key', 'once']
    const said = (await answerOf(...words)) as { event_id: string }
    expect(said).toMatchObject({ status: 'ok', symbols: ['BTC'] })
    const typed = await eventsAfter(service, before)
    expect(typed.map(({ type }) => type)).toEqual([
      'signal.curator.v1',
      'attribution.recorded.v1',
      'system.audit.v1',
    ])
    const attribution = await service.call('GET', `/signals/${said.event_id}/attribution`)
    expect(attribution.body).toMatchObject({ contributor_id: operator?.id, score: 7 })

    const between = await headOf(service)
    const body = {
      event_type: 'signal.curator.v1',
      node_id: operator?.node_id,
      source: 'cli.signal',
      payload,
    }
    expect((await service.call('POST', '/signals/submit', { body })).status).toBe(200)
    const posted = await eventsAfter(service, between)
    expect(typed.slice(0, 2).map(shapeOf)).toEqual(posted.slice(0, 2).map(shapeOf))
    expect(typed[0]?.payload).toEqual(posted[0]?.payload)
    expect(new Set([...typed, ...posted].map(({ signer }) => signer)).size).toBe(1)

    // The key of the command line is the key of the interface.
    const again = await service.call('POST', '/signals/submit', { body: { ...body, dedupe_key: 'once' } })
    expect(again.body).toEqual({ event_id: said.event_id, contributor_id: operator?.id })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await answerOf(...words)).toMatchObject({ event_id: said.event_id, events: [{ replayed: true }] })
    expect((await service.call('GET', '/signals')).body).toMatchObject({ total: 2 })
    await service.stop()
  })
})

describe('svc', () => {
  afterAll(cleanUp)

  it('runs the same cycle as POST /brain/run, and neither above level 0', async () => {
    const { home, run, answerOf } = await prepare()
    const service = await startService(home)
    await answerOf('signal', 'BTC up', '--direction', 'bullish', '--conviction', '9')
    const posted = (await service.call('POST', '/brain/run')).body as Record<string, unknown>
    const typed = (await answerOf('brain')) as Record<string, unknown>
    expect(Object.keys(typed)).toEqual(Object.keys(posted))
    for (const member of ['regime', 'kill_switch_level']) expect(typed[member]).toEqual(posted[member])
    const status = (await service.call('GET', '/brain/status')).body
    expect(status).toMatchObject({ last_cycle_id: typed['cycle_id'] })
    expect(await answerOf('brain', 'status')).toEqual(status)

    await service.call('POST', '/kill-switch', { body: { level: 1, reason: 'x' } })
    const refused = await service.call('POST', '/brain/run')
    const { exitCode, stdout, stderr } = await run('brain')
    expect([exitCode, stdout]).toEqual([1, ''])
    const { request_id: _own, ...problem } = JSON.parse(stderr) as { readonly request_id: string }
    expect(problem).toMatchObject({ status: 423, code: 'kill_switch.active', level: 1 })
    expect(refused.body).toMatchObject(problem)
    await service.stop()
  })

  it('answers like the interface while the service runs', async () => {
    const { home, answerOf } = await prepare()
    const service = await startService(home)
    const get = async (path: string) => (await service.call('GET', path)).body
    const registration = 'contributors register --node-id n1 --name Ann --role curator'
    const ann = (await answerOf(...registration.split(' '))) as { id: string }
    expect(await get(`/contributors/${ann.id}`)).toEqual(ann)
    expect(await answerOf('contributors', 'list')).toEqual(await get('/contributors'))
    const producer = 'producers register --name p1 --domain onchain --endpoint https://example.com'
    const p1 = await answerOf(...producer.split(' '))
    expect(await get('/producers')).toEqual({ producers: [p1] })
    expect(await answerOf('producers', 'status')).toEqual(await get('/producers/status'))
    expect(await answerOf('positions')).toEqual(await get('/positions'))
    expect(await answerOf('export', 'karma')).toEqual([])
    expect(await answerOf('contributors', 'remove', ann.id)).toEqual({ removed: ann.id })
    expect((await service.call('GET', `/contributors/${ann.id}`)).status).toBe(404)
    expect(await get('/integrity?mode=full')).toMatchObject({ ok: true })
    await service.stop()
  })

  it('works without the service, which later finds everything', async () => {
    const { home, run, answerOf } = await prepare()
    const note = join(home, 'note.txt')
    writeFileSync(note, 'ETH and SOL look weak\n')
    const said = await answerOf(
      'signal',
      'add',
      '--file',
      note,
      '--direction',
      'bearish',
      '--conviction',
      '4',
    )
    expect(said).toMatchObject({ symbols: ['ETH', 'SOL'] })
    const { cycle_id } = (await answerOf('brain')) as { cycle_id: string }
    expect(await answerOf('contributors', 'leaderboard')).toMatchObject([
      { name: 'local-operator', signals_submitted: 2 },
    ])
    expect((await run('signal', 'x', '--conviction', '11')).exitCode).toBe(2)
    expect((await run('signal')).exitCode).toBe(2)

    const service = await startService(home)
    expect((await service.call('GET', '/brain/status')).body).toMatchObject({ last_cycle_id: cycle_id })
    expect((await service.call('GET', '/signals?domain=curator')).body).toMatchObject({ total: 2 })
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await service.stop()
  })
})
