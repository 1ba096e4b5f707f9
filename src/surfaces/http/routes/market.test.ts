import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { barsFrom } from '../../../core/market/bars.fixture.ts'
import { startTestServer, type TestServer } from '../test-server.fixture.ts'

let server: TestServer
beforeEach(async () => {
  server = await startTestServer()
  const closes = Array.from({ length: 25 }, (_, index) => 100 + index / 10)
  const minutes = closes.map((_, index) =>
    ['BTC', 'ETH'].flatMap((symbol) => barsFrom('2026-02-20T00:04:00.000Z', closes, { symbol })[index] ?? []),
  )
  for (const bars of minutes) {
    await server.engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
  }
})
afterEach(() => server.close())

const get = async (path: string) => {
  const { status, body } = await server.call('GET', path)
  return { status, items: body as unknown as readonly Record<string, unknown>[], body }
}
const minutesOf = (items: readonly Record<string, unknown>[]) =>
  items.map(({ open_ts }) => Number(String(open_ts).slice(14, 16)))

describe('GET /bars', () => {
  it('lists the newest first, of one symbol in any spelling', async () => {
    const { items } = await get('/bars?symbol=btc/usdt&limit=3')
    expect(minutesOf(items)).toEqual([28, 27, 26])
    expect(items[0]).toMatchObject({ symbol: 'BTC', resolution_s: 60, close: 102.4 })
  })

  it('finds any past time, page by page', async () => {
    const pages: number[] = []
    for (let to = '2026-02-20T00:20:00Z'; ;) {
      const { items } = await get(`/bars?symbol=ETH&limit=5&to=${to}&from=2026-02-20T00:06:00Z`)
      if (items.length === 0) break
      pages.push(...minutesOf(items))
      to = String(items.at(-1)?.['open_ts'])
    }
    expect(pages).toEqual(Array.from({ length: 14 }, (_, index) => 19 - index))
    expect((await get('/bars?symbol=ETH&to=2020-01-01T00:00:00Z')).items).toEqual([])
    expect(minutesOf((await get('/bars?limit=3&to=2026-02-20T00:10:00Z')).items)).toEqual([9, 9, 8])
  })

  it('refuses a symbol without bars, and more than it gives', async () => {
    expect(await get('/bars?symbol=NOPE')).toMatchObject({ status: 404, body: { code: 'symbol.not_found' } })
    expect(await get('/bars?limit=1001')).toMatchObject({ status: 422 })
    expect(await get('/bars?from=soon')).toMatchObject({ status: 422 })
  })
})

describe('GET /symbols and /prices', () => {
  it('show the universe with its newest bars, and prices only while they are recent', async () => {
    const { items } = await get('/symbols')
    expect(items.find(({ symbol }) => symbol === 'BTC')).toEqual({
      symbol: 'BTC',
      in_universe: true,
      bar_seconds: 60,
      last_open_ts: '2026-02-20T00:28:00.000Z',
      last_close_ts: '2026-02-20T00:29:00.000Z',
      last_close: 102.4,
    })
    const price = async () => (await get('/prices')).items.find(({ symbol }) => symbol === 'ETH')
    expect(await price()).toMatchObject({ price: 102.4, as_of: '2026-02-20T00:29:00.000Z' })
    server.testClock.advance(3_600_000)
    expect(await price()).toMatchObject({ price: null, as_of: null, last_close: 102.4 })
  })
})
