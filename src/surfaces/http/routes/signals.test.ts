import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import { expectFault } from '../expectations.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly limit: number
  readonly offset: number
  readonly total: number
}

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

const list = async (query = ''): Promise<Page> => {
  const { status, body } = await server.call('GET', `/signals${query}`)
  expect(status, query).toBe(200)
  return body as unknown as Page
}

const numbersOf = async (query: string) =>
  (await list(query)).items.map(({ payload }) => (payload as { number: number }).number)

describe('GET /signals', () => {
  it('is empty on a fresh server', async () => {
    expect(await list()).toEqual({ items: [], limit: 100, offset: 0, total: 0 })
  })

  it('lists newest ts first, then newest seq, page by page', async () => {
    const said = [
      { type: 'signal.curator.v1', ts: '2026-02-20T00:00:03.000Z' },
      { type: 'signal.ta.v1', ts: '2026-02-20T00:00:05.000Z' },
      { type: 'signal.ta.rsi.v1', ts: '2026-02-20T00:00:01.000Z' },
      { type: 'system.note.v1', ts: '2026-02-20T00:00:09.000Z' },
      { type: 'signal.tape.v1', ts: '2026-02-20T00:00:03.000Z', source: null },
    ]
    const { seq } = await server.log.head()
    await appendTo(server.log, said.length, (at) => ({
      ...said[at - seq - 1],
      payload: { number: at - seq, html: '<script>', größe: '😀' },
    }))
    expect(await numbersOf('')).toEqual([2, 5, 1, 3])
    expect(await list('?limit=1&offset=1')).toMatchObject({
      items: [{ payload: { number: 5 } }],
      limit: 1,
      offset: 1,
      total: 4,
    })
    expect(await list('?offset=4')).toMatchObject({ items: [], total: 4 })
    expect(await numbersOf('?limit=500&offset=0')).toHaveLength(4)
    expect(await list('?offset=99999999999999999999')).toMatchObject({ items: [], total: 4 })
  })

  it('shows exactly five members', async () => {
    const { items } = await list()
    expect(items[1]).toEqual({
      id: expect.any(String),
      type: 'signal.tape.v1',
      ts: '2026-02-20T00:00:03.000Z',
      source: null,
      payload: { number: 5, html: '<script>', größe: '😀' },
    })
    for (const item of items) {
      expect(Object.keys(item)).toEqual(['id', 'type', 'ts', 'source', 'payload'])
    }
  })

  it('filters by the exact second segment', async () => {
    expect(await numbersOf('?domain=ta')).toEqual([2, 3])
    expect(await list('?domain=ta&limit=1')).toMatchObject({ items: [{ type: 'signal.ta.v1' }], total: 2 })
    expect(await numbersOf('?domain=curator')).toEqual([1])
    expect(await list('?domain=')).toMatchObject({ total: 4 })
    for (const domain of [
      'TA',
      't',
      'ta.rsi',
      'signal.ta',
      '%25',
      '_a',
      't*',
      '.',
      "';--",
      '__proto__',
      '%20ta',
    ]) {
      expect(await list(`?domain=${domain}`), domain).toMatchObject({ items: [], total: 0 })
    }
  })

  it('refuses what is out of range, and clamps nothing', async () => {
    for (const [query, name, type] of [
      ['limit=501', 'limit', 'less_than_equal'],
      ['limit=0', 'limit', 'greater_than_equal'],
      ['limit=-1', 'limit', 'greater_than_equal'],
      ['limit=abc', 'limit', 'int_type'],
      ['limit=', 'limit', 'int_type'],
      ['limit=1.0', 'limit', 'int_type'],
      ['limit=1e2', 'limit', 'int_type'],
      ['limit=%201', 'limit', 'int_type'],
      ['limit=1&limit=1', 'limit', 'int_type'],
      ['offset=-1', 'offset', 'greater_than_equal'],
      ['offset=x', 'offset', 'int_type'],
      ['domain=a%00b', 'domain', 'string_pattern'],
      ['domain=a%7Cb', 'domain', 'string_pattern'],
      ['domain=a&domain=b', 'domain', 'string_type'],
      [`domain=${'x'.repeat(257)}`, 'domain', 'string_too_long'],
    ] as const) {
      expectFault(await server.call('GET', `/signals?${query}`), ['query', name], type, query)
    }
    const both = await server.call('GET', '/signals?limit=0&offset=-1')
    expect(both.body['errors']).toHaveLength(2)
    expect(await list('?unknown=1&__proto__=2')).toMatchObject({ total: 4 })
  })

  it('answers with a trailing slash and to HEAD', async () => {
    expect((await server.call('GET', '/signals/')).text).toBe((await server.call('GET', '/signals')).text)
    const head = await server.call('HEAD', '/signals')
    expect([head.status, head.text]).toEqual([200, ''])
  })

  it('shows a damaged signal as text, in an answer that is still JSON', async () => {
    await appendTo(server.log, 1, () => ({ type: 'signal.odd.v1', ts: '2026-02-20T00:00:30.000Z' }))
    const [record] = await server.log.readByTime({ domain: 'signal.odd', limit: 1, offset: 0 })
    // Breaks the payload, as a manual change to the database could.
    Object.assign(record ?? {}, { payload: '{"a":1},"source":"forged"' })
    expect((await list('?domain=odd')).items).toMatchObject([
      { source: 'test', payload: '{"a":1},"source":"forged"' },
    ])
  })
})
