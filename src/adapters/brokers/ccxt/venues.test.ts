import { afterEach, describe, expect, it } from 'vitest'
import type { Price, Quantity } from '../../../core/shared/money.ts'
import { SUPPORTED_VENUES, VENUE_IDS } from '../../../core/shared/venues.ts'
import { entryOf, exitOf, stopOf, units } from '../../../ports/broker.fixture.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { BYBIT } from './bybit.fixture.ts'
import { BINANCE, openVenueFixture, type CcxtBrokerFixture, type TestVenue } from './ccxt-broker.fixture.ts'
import type { CcxtBrokerDependencies } from './ccxt-broker.ts'
import { DIALECTS } from './dialects/all.ts'
import { loadApi } from './exchange.ts'
import { KRAKEN_FUTURES } from './krakenfutures.fixture.ts'
import { OKX } from './okx.fixture.ts'

const VENUES: readonly TestVenue[] = [BINANCE, BYBIT, OKX, KRAKEN_FUTURES]

const fixtures: CcxtBrokerFixture[] = []
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.broker.close()
    await fixture.close()
  }
})

const open = async (
  venue: TestVenue,
  changes: Partial<CcxtBrokerDependencies> = {},
): Promise<CcxtBrokerFixture> => {
  const fixture = await openVenueFixture(venue, changes)
  fixtures.push(fixture)
  return fixture
}

/** A client order id as the engine derives it: a UUID without its hyphens. */
const OUR_ID = '019c7a3e5b2f7c4d8e9fa0b1c2d3e4f5'

const hostsOf = ({ venue }: CcxtBrokerFixture): readonly string[] => [
  ...new Set(venue.requests.map((request) => request.split('/')[0] ?? '')),
]

it('every declared venue runs the contract against a server of its own', () => {
  expect(VENUES.map(({ id }) => id).toSorted()).toEqual([...VENUE_IDS].toSorted())
  expect(new Set(VENUES.map(({ wire }) => wire)).size).toBe(VENUE_IDS.length)
})

describe.each(VENUES.map((venue) => [venue.id, venue] as const))('at %s', (id, testVenue) => {
  const declared = SUPPORTED_VENUES[id]

  it('a key with a wrong secret is refused by its signature, and never shown', async () => {
    const fixture = await open(testVenue)
    const { apiKey, passphrase } = fixture.venue.world.account
    const credentials = { apiKey, secret: 'd3Jvbmctc2VjcmV0LTAxMjM0NTY3ODk=', password: passphrase }
    const { broker, run, venue } = await open(testVenue, { credentials })
    const checks = await run(broker.preflight(['BTC']))
    const passed = checks.filter(({ ok }) => ok).map(({ name }) => name)
    expect(passed).toEqual(expect.arrayContaining(['reachable', 'markets', 'clock']))
    expect(passed).not.toEqual(expect.arrayContaining(['permissions']))
    expect(passed).not.toEqual(expect.arrayContaining(['balance']))
    const sent = await run(broker.submit(exitOf('exit1')))
    expect(sent.status).toBe('rejected')
    expect(venue.world.account.attempts).toEqual([])
    expect(JSON.stringify([checks, sent])).not.toContain(credentials.secret)
  })

  it.each([
    ['may not trade', { mayTrade: false }],
    ['may withdraw', { mayWithdraw: true }],
    ['belongs to an account in hedge mode', { isHedged: true }],
  ])('a key that %s does not pass, where the venue tells', async (_, changes) => {
    const { broker, run, venue } = await open(testVenue)
    Object.assign(venue.world.account, changes)
    const checks = await run(broker.preflight(['BTC']))
    const permissions = checks.find(({ name }) => name === 'permissions')
    // Kraken Futures lists no rights of keys, and has no hedge mode.
    expect(permissions?.ok).toBe(id === 'krakenfutures')
    if (permissions?.ok === true) expect(permissions.detail).toContain('does not list')
  })

  it('an order that took many trades is reported with all of them', async () => {
    const { broker, run, venue } = await open(testVenue)
    await run(broker.submit(entryOf(OUR_ID)))
    const [order] = venue.world.account.orders
    const [trade] = order?.trades ?? []
    if (order === undefined || trade === undefined) throw new Error('nothing was traded')
    // The order is split into 250 trades, as in a thin book.
    const parts = Array.from({ length: 250 }, (_, index) => ({
      ...trade,
      tradeId: trade.tradeId + index,
      atMs: trade.atMs - 250 + index,
      quantity: order.executed / 250n,
    }))
    order.trades.splice(0, order.trades.length, ...parts)
    venue.world.account.trades.splice(0, venue.world.account.trades.length, ...parts)
    const found = await run(broker.lookup(entryOf(OUR_ID)))
    if (found.status !== 'found') throw new Error(found.status)
    expect(found.report).toMatchObject({ status: 'filled', filledQuantity: units(0.05) })
    expect(new Set(found.report.fills.map(({ venueTradeId }) => venueTradeId)).size).toBe(250)
  })

  // Kraken Futures states no such limit.
  it.skipIf(id === 'krakenfutures')(
    'an exit that is larger than a market order may be is sent in parts',
    async () => {
      const { broker, run, venue } = await open(testVenue)
      venue.world.account.wallet = units(100_000_000)
      const whole = units(125) as Quantity
      const entered = await run(broker.submit(entryOf('in1', { quantity: whole, leverage: 1 })))
      expect(entered).toMatchObject({ status: 'accepted', report: { filledQuantity: whole } })
      const held = () => venue.world.account.holdings.get('BTC')?.quantity ?? 0n
      const { stops } = broker
      if (stops === null) throw new Error('the venue holds no stops')
      const placed = await run(stops.place(stopOf('stop1', { quantity: whole })))
      expect(placed.status).toBe('accepted')
      const first = await run(broker.submit(exitOf('out1', { quantity: whole })))
      expect(first).toMatchObject({ status: 'accepted', report: { status: 'filled' } })
      expect(held()).toBeLessThanOrEqual(units(6))
      if (held() > 0n) await run(broker.submit(exitOf('out2', { quantity: held() as Quantity })))
      expect(held()).toBe(0n)
    },
  )

  it('our ids fit, and longer ones than it takes are not sent', async () => {
    const { broker, run, orders, restingStops } = await open(testVenue)
    expect(OUR_ID.length).toBeLessThanOrEqual(declared.clientOrderIdLengthMax)
    expect((await run(broker.submit(entryOf(OUR_ID)))).status).toBe('accepted')
    expect((await run(broker.lookup(entryOf(OUR_ID)))).status).toBe('found')
    const stopId = OUR_ID.replace('0', 'f')
    expect((await run(broker.stops?.place(stopOf(stopId)) ?? Promise.resolve(null)))?.status).toBe('accepted')
    const tooLong = 'x'.repeat(declared.clientOrderIdLengthMax + 1)
    expect(await run(broker.submit(entryOf(tooLong)))).toMatchObject({ status: 'not_sent' })
    expect(orders().map(({ clientOrderId }) => clientOrderId)).toEqual([OUR_ID])
    expect(restingStops()).toEqual([stopId])
    expect(DIALECTS[id].clientOrderId.test('x'.repeat(declared.clientOrderIdLengthMax))).toBe(true)
  })

  it('a clock that is wrong is measured, and used from then on', async () => {
    const { broker, run, venue } = await open(testVenue)
    venue.world.skewMs = 90_000
    const checks = await run(broker.preflight(['BTC']))
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['clock'])
    expect((await run(broker.submit(entryOf('entry1')))).status).toBe('accepted')
    venue.world.skewMs = -90_000
    expect((await run(broker.submit(entryOf('entry2')))).status).toBe('accepted')
  })

  it('an order that arrives after its window is not accepted', async () => {
    const fixture = await open(testVenue, { requestTimeoutMs: declared.acceptanceWindowMs + 1000 })
    const { broker, run } = fixture
    await run(broker.preflight(['BTC']))
    fixture.addFault('submit', 'silence_before', 1)
    const order = exitOf('late1', { side: 'buy', reduceOnly: false, leverage: 1 })
    await run(broker.submit(order))
    expect((await run(broker.lookup(order))).status).toBe('not_found')
    fixture.venue.release()
    await run(fixture.pass(1))
    expect(fixture.orders()).toEqual([])
    // An order within the time is accepted.
    expect((await run(broker.submit({ ...order, clientOrderId: 'intime1' }))).status).toBe('accepted')
  })

  it('an error says what the venue said', async () => {
    const { broker, run, venue } = await open(testVenue)
    await run(broker.preflight(['BTC']))
    venue.world.account.wallet = 1_00000000n
    const poor = await run(broker.submit(entryOf('entry1')))
    expect(poor.status === 'rejected' ? poor.reason : '').toMatch(
      /-2019|110007|51008|insufficientAvailableFunds/,
    )
    const flat = await run(broker.submit(exitOf('exit1')))
    expect(flat.status === 'rejected' ? flat.reason : '').toMatch(/-2022|110017|51169|wouldNotReducePosition/)
  })

  it('a limit of the venue pauses every request', async () => {
    const fixture = await open(testVenue)
    const { broker, run, venue, timer } = fixture
    await run(broker.submit(entryOf('entry1')))
    fixture.addFault('submit', 'limit', 1)
    expect((await run(broker.submit(exitOf('exit1')))).status).toBe('not_sent')
    const [sentBefore, startMs] = [venue.requests.length, timer.now()]
    await run(broker.lookup(exitOf('exit1')))
    // The request waits for the end of the pause, or is not sent if that takes too long.
    if (venue.requests.length > sentBefore) expect(timer.now() - startMs).toBeGreaterThanOrEqual(5000)
    else expect(venue.requests).toHaveLength(sentBefore)
  })

  it('the sandbox sends to the test network, and nowhere else', async () => {
    const fixture = await open(testVenue, { exchange: `${id}-sandbox` })
    const { broker, run, venue } = fixture
    expect((await run(broker.preflight(['BTC']))).filter(({ ok }) => !ok)).toEqual([])
    expect((await run(broker.submit(entryOf('entry1')))).status).toBe('accepted')
    expect((await run(broker.stops?.place(stopOf('stop1')) ?? Promise.resolve(null)))?.status).toBe(
      'accepted',
    )
    for (const host of hostsOf(fixture).filter((name) => name !== declared.testNetwork))
      // Binance also lists its other markets, on hosts of the same demo.
      expect(host).toMatch(/^demo-(d?api)\.binance\.com$/)
    if (id === 'okx')
      expect(venue.headers.every((headers) => headers['x-simulated-trading'] === '1')).toBe(true)
    const real = await open(testVenue)
    await real.run(real.broker.preflight(['BTC']))
    if (id !== 'okx') expect(hostsOf(real)).not.toContain(declared.testNetwork)
    expect(real.venue.headers.some((headers) => headers['x-simulated-trading'] === '1')).toBe(false)
  })

  it('without a simulator the library has the same addresses', async () => {
    const load = (exchange: string) =>
      loadApi({ exchange, credentials: { apiKey: 'k', secret: 's' }, timer: createSystemTimer() })
    const { api } = await load(`${id}-sandbox`)
    const hostname = id === 'okx' ? 'www.okx.com' : 'bybit.com'
    const addresses = (urls: unknown): string => JSON.stringify(urls).replaceAll('{hostname}', hostname)
    expect(addresses(api.urls.api)).toContain(`https://${declared.testNetwork}`)
    if (id !== 'okx')
      expect(addresses((await load(id)).api.urls.api)).not.toContain(`https://${declared.testNetwork}`)
  })

  it('steps and sizes are in coins, whatever the venue counts in', async () => {
    const { broker, run, orders, venue } = await open(testVenue)
    await run(broker.preflight(['BTC']))
    const { quantityStep, priceStep } = broker.stepsOf('BTC') ?? {}
    expect([quantityStep, priceStep]).toEqual(
      {
        binanceusdm: [units(0.001), units(0.1)],
        bybit: [units(0.001), units(0.1)],
        okx: [units(0.0001), units(0.1)],
        krakenfutures: [units(0.0001), units(1)],
      }[id],
    )
    const asked = { quantity: units(0.05) as Quantity, limitPrice: units(60_123.987) as Price }
    await run(broker.submit(entryOf('entry1', asked)))
    expect(orders()[0]).toMatchObject({ quantity: units(0.05) })
    const sent = venue.requests.find((request) => request.includes('entry1')) ?? ''
    // Five contracts of a hundredth of a coin each.
    if (declared.quantityUnit === 'contracts') expect(sent).toContain('"sz":"5"')
    else expect(sent).toMatch(/(quantity|size)=0\.05\b|"qty":"0\.05"/)
  })
})
