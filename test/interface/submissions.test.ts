import { beforeAll, expect, it } from 'vitest'
import { eventsOf, register, type EventItem } from './acts.ts'
import { readStore } from './edit-store.ts'
import { newHome, startService, type RunningService, type Variables } from './service.ts'
import { onDefaultStore } from './stores.ts'

const MINUTE_MS = 60_000

const minutesFromNow = (minutes: number): string => new Date(Date.now() + minutes * MINUTE_MS).toISOString()

onDefaultStore('a submission', (store) => {
  let home: string
  let variables: Variables
  let service: RunningService
  let contributorId: string
  beforeAll(async () => {
    home = await newHome()
    variables = await store()
    service = await startService(home, variables)
    contributorId = await register(service, 'n1')
  })
  const post = (fields: object | string, headers: Variables = {}) => {
    const body =
      typeof fields === 'string' ? fields : { event_type: 'signal.curator.v1', node_id: 'n1', ...fields }
    return service.call('POST', '/signals/submit', { body, headers })
  }
  const idOf = async (fields: object, headers: Variables = {}): Promise<string> => {
    const { status, body, text } = await post(fields, headers)
    expect(status, text).toBe(200)
    return (body as { event_id: string }).event_id
  }
  const signals = async (): Promise<{ readonly items: readonly EventItem[]; readonly total: number }> =>
    (await service.call('GET', '/signals')).body
  const storedAs = async (fields: object): Promise<EventItem> =>
    (await service.call('GET', `/events/${await idOf(fields)}`)).body

  it('is stored as it was sent', async () => {
    const payload = { symbol: 'btc', direction: 'bullish', conviction: 7.5, own: { deep: [1, null, 'ü'] } }
    const answer = await post({ payload })
    expect(answer.body).toEqual({ event_id: expect.any(String), contributor_id: contributorId })
    const { event_id: id } = answer.body as { event_id: string }
    expect((await signals()).items.find((item) => item.id === id)?.payload).toEqual(payload)
  })

  it('is a row of contributor_signals', async () => {
    const id = await idOf({ payload: { symbol: 'eth/usdt', direction: 'bearish', conviction: 4 } })
    const [row] = await readStore(
      home,
      variables,
      `SELECT * FROM contributor_signals WHERE event_id = '${id}'`,
    )
    expect({ ...row, accepted: Boolean(row?.['accepted']) }).toEqual({
      contributor_id: contributorId,
      event_id: id,
      node_id: 'n1',
      direction: 'bearish',
      score: 4,
      asset: 'ETH',
      accepted: false,
      profitable: null,
      received_at: expect.any(String) as string,
    })
  })

  it.each([
    [{ source: 'operator:telegram' }, 'operator:telegram'],
    [{}, 'n1'],
    [{ source: null }, 'n1'],
    [{ source: '   ' }, 'n1'],
  ])('%j comes from %s', async (fields, source) => {
    expect((await storedAs(fields)).source).toBe(source)
  })

  it.each([
    [{ event_type: 'brain.cycle.v1' }],
    [{ event_type: 'signal.nope.v1' }],
    [{ event_type: 'signal.nope.v1', node_id: 'nobody' }],
  ])('%j is of another type', async (fields) => {
    expect((await post(fields)).body).toMatchObject({
      status: 400,
      code: 'signal.invalid_type',
      event_type: fields.event_type,
    })
  })

  it('is refused from somebody unknown', async () => {
    expect((await post({ node_id: 'nobody' })).body).toMatchObject({
      status: 404,
      code: 'contributor.not_found',
      node_id: 'nobody',
    })
  })

  it.each([
    [{ event_type: undefined }, ['body', 'event_type']],
    [{ node_id: undefined }, ['body', 'node_id']],
    [{ payload: [] }, ['body', 'payload']],
    [{ source: 'a|b' }, ['body', 'source']],
    [{ ts: 'nope' }, ['body', 'ts']],
    [{ ts: minutesFromNow(10) }, ['body', 'ts']],
    [{ payload: { conviction: 11 } }, ['body', 'payload', 'conviction']],
    [{ payload: { conviction: -1 } }, ['body', 'payload', 'conviction']],
    [{ payload: { conviction: '7' } }, ['body', 'payload', 'conviction']],
    [{ payload: { direction: 'up' } }, ['body', 'payload', 'direction']],
    [{ payload: { rationale: '\ud800' } }, ['body', 'payload', 'rationale']],
  ])('%j is refused, and nothing is stored', async (fields, loc) => {
    const { total } = await signals()
    expect((await post(fields)).body).toMatchObject({
      status: 422,
      code: 'request.invalid',
      errors: [{ loc }],
    })
    expect((await signals()).total).toBe(total)
  })

  it('a number beyond all bounds is refused, and the bounds are not', async () => {
    const text = '{"event_type":"signal.curator.v1","node_id":"n1","payload":{"conviction":1e999}}'
    expect((await post(text)).body).toMatchObject({ status: 422, errors: [{ type: 'number_not_finite' }] })
    for (const conviction of [0, 10]) await idOf({ payload: { conviction } })
  })

  it('has the time it was given, in one form, or else now', async () => {
    for (const ts of ['2026-02-20T02:29:58+02:00', '2026-02-20T00:29:58'])
      expect((await storedAs({ ts })).ts).toBe('2026-02-20T00:29:58.000Z')
    const soon = minutesFromNow(1)
    expect((await storedAs({ ts: soon })).ts).toBe(soon)
    const before = Date.now()
    const storedMs = Date.parse((await storedAs({})).ts)
    expect(storedMs).toBeGreaterThanOrEqual(before - 5000)
    expect(storedMs).toBeLessThanOrEqual(Date.now() + 5000)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
  })

  it('is stored once under its key, and twice without one', async () => {
    const fields = { payload: { symbol: 'BTC' } }
    expect(await idOf(fields)).not.toBe(await idOf(fields))

    const { total } = await signals()
    const key = { 'idempotency-key': 'key-1' }
    const first = await post(fields, key)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    const again = await post(fields, key)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect((await signals()).total).toBe(total + 1)

    expect((await post({ payload: { symbol: 'ETH' } }, key)).body).toMatchObject({
      status: 409,
      code: 'idempotency.conflict',
      event_id: (first.body as { event_id: string }).event_id,
    })
    await register(service, 'n2')
    expect(await idOf({ ...fields, node_id: 'n2' }, key)).not.toBe(
      (first.body as { event_id: string }).event_id,
    )
  })

  it('is two events, one after the other', async () => {
    const signal = await storedAs({ payload: { symbol: 'SUI' } })
    const [attribution] = await eventsOf(service, 'attribution.recorded')
    expect(attribution).toMatchObject({
      type: 'attribution.recorded.v1',
      seq: signal.seq + 1,
      payload: { signal_id: signal.id, contributor_id: contributorId, node_id: 'n1' },
    })
  })
})
