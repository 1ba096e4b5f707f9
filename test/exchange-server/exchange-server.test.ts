import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { journalOf } from './control.ts'
import { createFaults, type FaultSchedule } from './faults.ts'
import { startExchangeServer, type ExchangeServer } from './exchange-server.ts'

const NOW_MS = Date.parse('2026-02-20T12:00:00Z')
const venues: ExchangeServer[] = []
afterEach(async () => {
  for (const venue of venues.splice(0)) await venue.close()
})

const openVenue = async (): Promise<ExchangeServer> => {
  const venue = await startExchangeServer({ now: () => NOW_MS })
  venue.world.prices.set('BTC', 6_000_000_000_000n)
  venues.push(venue)
  return venue
}

interface Told {
  readonly status: number
  readonly code?: number
  readonly body: Readonly<Record<string, unknown>>
}

const ask = async (
  { baseUrl, world }: ExchangeServer,
  method: string,
  path: string,
  params: Readonly<Record<string, string>>,
  { timestamp = NOW_MS, secret = world.account.secret } = {},
): Promise<Told> => {
  const text = new URLSearchParams({ ...params, timestamp: String(timestamp) }).toString()
  const signed = `${text}&signature=${createHmac('sha256', secret).update(text).digest('hex')}`
  const url = `${baseUrl}/fapi.binance.com/fapi/${path}`
  const headers = { 'X-MBX-APIKEY': world.account.apiKey }
  const response =
    method === 'POST'
      ? await fetch(url, { method, headers, body: signed })
      : await fetch(`${url}?${signed}`, { method, headers })
  const body = (await response.json()) as Told['body']
  return {
    status: response.status,
    body,
    ...(typeof body['code'] === 'number' ? { code: body['code'] } : {}),
  }
}

const ENTRY = {
  symbol: 'BTCUSDT',
  side: 'BUY',
  type: 'LIMIT',
  timeInForce: 'IOC',
  quantity: '0.05',
  price: '60300',
  newClientOrderId: 'entry-1',
}

describe('the venue', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ['too many digits of a quantity', { quantity: '0.0505' }, -1111],
    ['a price between two steps', { price: '60300.05' }, -4014],
    ['a price too far away', { price: '90000' }, -4016],
    ['too little money', { quantity: '0.001', price: '58000' }, -4164],
    ['too large a quantity', { quantity: '2000' }, -4005],
    ['more than the account can hold', { quantity: '900' }, -2019],
    ['an unknown symbol', { symbol: 'NOPEUSDT' }, -1121],
    ['nothing to reduce', { reduceOnly: 'true' }, -2022],
    ['an odd name', { newClientOrderId: 'a b' }, -4015],
    ['no quantity', { quantity: '' }, -1100],
  ])('refuses %s', async (_, changes, code) => {
    const venue = await openVenue()
    expect(await ask(venue, 'POST', 'v1/order', { ...ENTRY, ...changes })).toMatchObject({
      status: 400,
      code,
    })
    expect(journalOf(venue.world).orders).toEqual([])
  })

  it('refuses who is not the customer, or does not ask now', async () => {
    const venue = await openVenue()
    const codes = [
      await ask(venue, 'POST', 'v1/order', ENTRY, { secret: 'another' }),
      await ask(venue, 'POST', 'v1/order', ENTRY, { timestamp: NOW_MS - 5001 }),
      await ask(venue, 'POST', 'v1/order', ENTRY, { timestamp: NOW_MS + 1001 }),
    ].map(({ code }) => code)
    expect(codes).toEqual([-1022, -1021, -1021])
  })

  it('takes a name again as soon as its order is not open any more, as the real one does', async () => {
    const venue = await openVenue()
    venue.faults.add(/^POST/, { kind: 'partial', share: 0.5, rest: 'open' }, 1)
    expect((await ask(venue, 'POST', 'v1/order', ENTRY)).body['status']).toBe('PARTIALLY_FILLED')
    expect((await ask(venue, 'POST', 'v1/order', ENTRY)).code).toBe(-4116)
    const { symbol } = ENTRY
    const open = await ask(venue, 'GET', 'v1/openOrders', { symbol })
    expect(open.body).toHaveLength(1)
    await ask(venue, 'DELETE', 'v1/order', { symbol, origClientOrderId: 'entry-1' })
    expect((await ask(venue, 'POST', 'v1/order', ENTRY)).status).toBe(200)
    expect(journalOf(venue.world).orders).toHaveLength(2)
  })

  it('keeps books that add up', async () => {
    const venue = await openVenue()
    await ask(venue, 'POST', 'v1/order', ENTRY)
    venue.world.prices.set('BTC', 6_100_000_000_000n)
    const exit = { symbol: 'BTCUSDT', side: 'SELL', type: 'MARKET', quantity: '0.05', reduceOnly: 'true' }
    await ask(venue, 'POST', 'v1/order', { ...exit, newClientOrderId: 'exit-1' })
    const { trades, wallet, equity, positions } = journalOf(venue.world)
    const cash = trades.reduce((sum, { side, price, quantity, commission }) => {
      const worth = Number(price) * Number(quantity)
      return sum + (side === 'SELL' ? worth : -worth) - Number(commission)
    }, 10_000)
    expect(Number(wallet)).toBeCloseTo(cash, 5)
    expect([equity, positions]).toEqual([wallet, []])
  })
})

describe('the fault schedule', () => {
  it('is the same for the same seed, and leaves what it does not name alone', () => {
    const schedule = (seed: number): FaultSchedule => ({
      seed,
      share: 0.5,
      choices: [
        { request: /order$/, fault: { kind: 'drop' } },
        { request: /order$/, fault: { kind: 'lost' } },
      ],
    })
    const drawn = (seed: number): readonly (string | undefined)[] => {
      const faults = createFaults()
      faults.schedule(schedule(seed))
      expect(faults.take('GET time')).toBeNull()
      return Array.from({ length: 50 }, () => faults.take('POST order')?.kind)
    }
    expect(drawn(7)).toEqual(drawn(7))
    expect(drawn(7)).not.toEqual(drawn(8))
    expect(new Set(drawn(7))).toEqual(new Set([undefined, 'drop', 'lost']))
  })
})
