import { priceFrom, type Quantity } from '../../../core/shared/money.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { entryOf, exitOf, patient, units } from '../../../ports/broker.fixture.ts'
import type { BrokerCheck } from '../../../ports/broker.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { chargeFunding } from '../../../../test/exchange-server/account-routes.ts'
import { createCcxtBroker, type CcxtBrokerDependencies } from './ccxt-broker.ts'
import { VENUE_IDS } from '../../../core/shared/venues.ts'
import { openBrokerFixture, type CcxtBrokerFixture } from './ccxt-broker.fixture.ts'

const fixtures: CcxtBrokerFixture[] = []
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    await fixture.broker.close()
    await fixture.close()
  }
})

const openFixture = async (changes: Partial<CcxtBrokerDependencies> = {}): Promise<CcxtBrokerFixture> => {
  const fixture = await openBrokerFixture(changes)
  fixtures.push(fixture)
  return fixture
}

const sentOrders = ({ venue }: CcxtBrokerFixture): readonly URLSearchParams[] =>
  venue.requests
    .filter((request) => request.includes('newClientOrderId'))
    .map((request) => new URLSearchParams(request.split('?')[1]))

describe('an order over HTTP', () => {
  it('has exactly the quantity and price that were rounded here, as text', async () => {
    const fixture = await openFixture()
    const limits = { quantity: 5_012_345n as Quantity, limitPrice: priceFrom(60_123.4567) }
    await fixture.run(fixture.broker.submit(entryOf('entry-1', limits)))
    await fixture.run(fixture.broker.submit(exitOf('exit-1', { quantity: 5_012_345n as Quantity })))
    const [entry, exit] = sentOrders(fixture)
    expect(Object.fromEntries(entry ?? [])).toMatchObject({
      symbol: 'BTCUSDT',
      side: 'BUY',
      type: 'LIMIT',
      timeInForce: 'IOC',
      quantity: '0.05',
      price: '60123.4',
      newClientOrderId: 'entry-1',
      recvWindow: '5000',
    })
    expect(entry?.has('reduceOnly')).toBe(false)
    expect(Object.fromEntries(exit ?? [])).toMatchObject({
      side: 'SELL',
      type: 'MARKET',
      quantity: '0.05',
      newClientOrderId: 'exit-1',
      reduceOnly: 'true',
    })
    expect(exit?.has('price')).toBe(false)
  })

  it('is not sent with a client order id that the venue does not accept', async () => {
    const fixture = await openFixture()
    const answer = await fixture.run(fixture.broker.submit(entryOf('x'.repeat(37))))
    expect(answer).toMatchObject({ status: 'not_sent' })
    expect(sentOrders(fixture)).toEqual([])
  })

  it('sets the leverage of an entry where the venue has another one, and not before exits', async () => {
    const fixture = await openFixture()
    await fixture.run(fixture.broker.submit(exitOf('exit-1')))
    expect(fixture.venue.requests.some((request) => request.includes('/leverage?'))).toBe(false)
    for (const [index, leverage] of [2.9, 2, 1, 0.5, 3].entries())
      await fixture.run(fixture.broker.submit(entryOf(`entry-${index}`, { leverage })))
    const sent = fixture.venue.requests.filter((request) => request.includes('/leverage?'))
    expect(sent.map((request) => /leverage=(\d+)/.exec(request)?.[1])).toEqual(['2', '1', '3'])
  })

  it('is not sent to a venue that is down', async () => {
    const fixture = await openFixture()
    await fixture.run(fixture.broker.preflight(['BTC']))
    await fixture.venue.close()
    const answer = await fixture.run(fixture.broker.submit(exitOf('exit-1')))
    // A connection from before may have broken; a new one was never made.
    expect(['not_sent', 'unclear']).toContain(answer.status)
    expect(await fixture.run(fixture.broker.submit(exitOf('exit-2')))).toMatchObject({ status: 'not_sent' })
  })
})

describe('the clock', () => {
  it('of the venue is used in signatures', async () => {
    const fixture = await openFixture()
    fixture.venue.world.skewMs = -30_000
    const checks = await fixture.run(fixture.broker.preflight(['BTC']))
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'clock' }])
    expect((await fixture.run(fixture.broker.submit(entryOf('entry-1')))).status).toBe('accepted')
  })

  it('is measured again when the venue refuses a timestamp', async () => {
    const fixture = await openFixture()
    await fixture.run(fixture.broker.preflight(['BTC']))
    fixture.venue.world.skewMs = 90_000
    expect((await fixture.run(fixture.broker.submit(entryOf('entry-1')))).status).toBe('accepted')
    expect(fixture.orders()).toHaveLength(1)
  })

  it('is not measured again, nor the order sent, when the time for it is over', async () => {
    const fixture = await openFixture()
    const { broker, run, venue } = fixture
    await run(broker.preflight(['BTC']))
    await run(broker.submit(entryOf('entry-1')))
    venue.world.skewMs = 90_000
    // Refused for its timestamp, after most of the time.
    venue.faults.add(/POST .*\/v1\/order$/, { kind: 'slow', waitMs: 3500 }, 1)
    venue.faults.add(/\/time$/, { kind: 'slow', waitMs: 1500 }, 1)
    expect(await run(broker.submit(exitOf('exit-1'), fixture.within(4000)))).toMatchObject({
      status: 'not_sent',
    })
    await run(fixture.pass(60_000))
    expect(sentOrders(fixture).map((sent) => sent.get('newClientOrderId'))).toEqual(['entry-1', 'exit-1'])
    expect(fixture.orders()).toHaveLength(1)
  })

  it.each([
    ['before it is read', { kind: 'slow', waitMs: 4500 }],
    ['after it was read', { kind: 'done_then_slow', waitMs: 4500 }],
  ] as const)('does not shift timestamps by an answer that is slow %s', async (_, fault) => {
    const fixture = await openFixture()
    const { broker, run, venue } = fixture
    venue.faults.add(/\/time$/, fault, 1)
    const checks = await run(broker.preflight(['BTC']))
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
    venue.faults.add(/\/time$/, fault, 2)
    await run(broker.preflight(['BTC']))
    await run(broker.submit(entryOf('entry-1')))
    const sent = sentOrders(fixture)[0]
    expect(Math.abs(Number(sent?.get('timestamp')) - fixture.now())).toBeLessThan(1000)
    expect(fixture.orders()).toHaveLength(1)
  })

  it('that is always told slowly is no time: the check fails', async () => {
    const fixture = await openFixture()
    fixture.venue.faults.add(/\/time$/, { kind: 'slow', waitMs: 4500 })
    const checks = await fixture.run(fixture.broker.preflight(['BTC']))
    expect(checks.find(({ name }) => name === 'clock')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('too slowly'),
    })
  })

  it('keeps an order from arriving after it was not found', async () => {
    const fixture = await openFixture()
    await fixture.run(fixture.broker.preflight(['BTC']))
    fixture.addFault('submit', 'silence_before', 1)
    const order = exitOf('late-1', { side: 'buy', reduceOnly: false })
    expect((await fixture.run(fixture.broker.submit(order))).status).toBe('unclear')
    expect((await fixture.run(fixture.broker.lookup(order))).status).toBe('not_found')
    fixture.venue.release()
    expect(fixture.orders()).toEqual([])
  })
})

describe('a limit', () => {
  it('pauses all requests for as long as the venue asks', async () => {
    const fixture = await openFixture()
    await fixture.run(fixture.broker.preflight(['BTC']))
    fixture.addFault('submit', 'limit', 1)
    await fixture.run(fixture.broker.submit(entryOf('entry-1')))
    const before = fixture.venue.requests.length
    const answer = await fixture.run(
      fixture.broker.submit(exitOf('exit-1', { side: 'buy', reduceOnly: false })),
    )
    expect(answer).toMatchObject({ status: 'not_sent', retryAfterMs: 30_000 })
    expect(fixture.venue.requests).toHaveLength(before)
    await fixture.pass(30_000)
    const later = await fixture.run(
      fixture.broker.submit(exitOf('exit-2', { side: 'buy', reduceOnly: false })),
    )
    expect(later.status).toBe('accepted')
  })
})

describe('a key', () => {
  it.each([
    ['that is wrong', { apiKey: 'wrong-key-0123456789', secret: 'wrong-secret-0123456789' }],
    ['with a wrong secret', { apiKey: 'venue-key-0123456789', secret: 'wrong-secret-0123456789' }],
  ])('%s passes no check, sends no order, and is never shown', async (_, credentials) => {
    const fixture = await openFixture({ credentials })
    const { broker, run } = fixture
    const answers = [
      await run(broker.preflight(['BTC'])),
      await run(broker.submit(exitOf('exit-1'))),
      await run(broker.lookup(exitOf('exit-1'))),
      await run(broker.cancel(exitOf('exit-1'))),
    ]
    const passed = (answers[0] as readonly BrokerCheck[]).filter(({ ok }) => ok).map(({ name }) => name)
    expect(passed).toEqual(['reachable', 'markets', 'clock'])
    expect(answers.slice(1)).toMatchObject([
      { status: 'rejected' },
      { status: 'unclear' },
      { status: 'unclear' },
    ])
    expect(JSON.stringify(answers)).not.toMatch(/wrong-(key|secret)|signature=[0-9a-f]/)
    expect(await run(broker.account())).toBeNull()
  })

  it.each([
    ['may not trade', { mayTrade: false }, 'permissions'],
    ['may withdraw', { mayWithdraw: true }, 'permissions'],
    ['belongs to an account in hedge mode', { isHedged: true }, 'permissions'],
    ['belongs to an account without money', { wallet: 0n }, 'balance'],
    ['belongs to an account that is too small', { wallet: 1_000_000_000n }, 'minimum_sizes'],
  ])('that %s does not pass', async (_, changes, failing) => {
    const fixture = await openFixture()
    Object.assign(fixture.venue.world.account, changes)
    const checks = await fixture.run(fixture.broker.preflight(['BTC']))
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toContain(failing)
  })
})

describe('fees', () => {
  it('in another coin are converted at its price', async () => {
    const fixture = await openFixture()
    fixture.venue.world.account.feeAsset = 'BNB'
    const answer = await fixture.run(fixture.broker.submit(entryOf('entry-1')))
    const fills = answer.status === 'accepted' ? answer.report.fills : []
    const trades = fixture.venue.world.account.trades
    expect(fills.length).toBe(trades.length)
    fills.forEach(({ feeUsd }, index) => {
      const coins = trades[index]?.commission ?? 0n
      const exact = (coins * 600n) / 100n
      expect(feeUsd - exact).toBeLessThanOrEqual(1n)
      expect(feeUsd).toBeGreaterThanOrEqual(exact)
    })
  })

  it('are not reported before they are known', async () => {
    const fixture = await openFixture()
    fixture.venue.world.account.feeAsset = 'BNB'
    fixture.venue.faults.add(/ticker/, { kind: 'drop' }, 3)
    const answer = await fixture.run(fixture.broker.submit(entryOf('entry-1')))
    expect(answer).toMatchObject({ status: 'accepted', report: { filledQuantity: units(0.05), fills: [] } })
    const looked = await fixture.run(fixture.broker.lookup(entryOf('entry-1')))
    expect(looked.status === 'found' ? looked.report.fills.length : 0).toBeGreaterThan(0)
  })

  it('in a coin that the venue does not trade are the taker fee', async () => {
    const fixture = await openFixture()
    fixture.venue.world.account.feeAsset = 'ODD'
    const answer = await fixture.run(fixture.broker.submit(entryOf('entry-1')))
    const fills = answer.status === 'accepted' ? answer.report.fills : []
    expect(fills.reduce((sum, { feeUsd }) => sum + feeUsd, 0n)).toBeGreaterThanOrEqual(1_500_000n)
  })
})

it('funding payments are reported as the venue lists them', async () => {
  const fixture = await openFixture()
  await fixture.run(fixture.broker.preflight(['BTC']))
  await fixture.run(fixture.broker.submit(entryOf('entry-1')))
  chargeFunding(fixture.venue.world, 'BTC', 0.0001)
  const atMs = fixture.timer.now()
  // The first request for the account does not read fundings.
  expect((await fixture.run(fixture.broker.account()))?.fundings).toEqual([])
  await fixture.pass(30_000)
  const account = await fixture.run(fixture.broker.account())
  // 0.05 at 60,000, of which longs pay a ten-thousandth.
  expect(account?.fundings).toEqual([{ id: '9000', symbol: 'BTC', paidUsd: 300_000n, atMs }])
  // The list is not read again at once.
  expect((await fixture.run(fixture.broker.account()))?.fundings).toEqual([])
})

const unconnected = (exchange: string) =>
  patient(
    createCcxtBroker({
      exchange,
      credentials: { apiKey: 'k', secret: 's' },
      leverageMax: 1,
      timer: createSystemTimer(),
    }),
  )

it.each(['kraken', 'kraken-sandbox', 'nowhere', ''])(
  'an exchange that is not supported (%s) passes no check and sends nothing',
  async (exchange) => {
    const broker = unconnected(exchange)
    const checks = await broker.preflight(['BTC'])
    for (const { ok, detail } of checks) {
      expect(ok).toBe(false)
      expect(detail).toContain(`${exchange || '(empty)'} is not supported for live trading`)
      for (const id of VENUE_IDS) expect(detail).toContain(id)
    }
    expect(checks.length).toBeGreaterThan(0)
    expect((await broker.submit(entryOf('entry-1'))).status).toBe('not_sent')
    expect((await broker.lookup(entryOf('entry-1'))).status).toBe('unclear')
    expect((await broker.cancel(entryOf('entry-1'))).status).toBe('unclear')
    expect(broker.stops).toBeNull()
    expect(await broker.account()).toBeNull()
    expect(broker.stepsOf('BTC')).toBeNull()
    await broker.close()
  },
)
