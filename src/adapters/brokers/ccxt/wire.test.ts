import { afterEach, describe, expect, it } from 'vitest'
import { entryOf, exitOf, units } from '../../../ports/broker.fixture.ts'
import type { BrokerCheck } from '../../../ports/broker.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { chargeFunding } from '../../../../test/venue/account-routes.ts'
import { createCcxtBroker, type CcxtBrokerDependencies } from './ccxt-broker.ts'
import { openExchange } from './exchange.ts'
import { openBrokerStage, type CcxtBrokerStage } from './ccxt-broker.fixture.ts'

const stages: CcxtBrokerStage[] = []
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    await stage.broker.close()
    await stage.close()
  }
})

const stageOf = async (changes: Partial<CcxtBrokerDependencies> = {}): Promise<CcxtBrokerStage> => {
  const stage = await openBrokerStage(changes)
  stages.push(stage)
  return stage
}

const sentOrders = ({ venue }: CcxtBrokerStage): readonly URLSearchParams[] =>
  venue.requests
    .filter((request) => request.includes('newClientOrderId'))
    .map((request) => new URLSearchParams(request.split('?')[1]))

describe('over the wire', () => {
  it('goes exactly what was quantised here, as text', async () => {
    const stage = await stageOf()
    const limits = { quantity: 5_012_345n, limitPrice: units(60_123.4567) }
    await stage.run(stage.broker.submit(entryOf('entry-1', limits)))
    await stage.run(stage.broker.submit(exitOf('exit-1', { quantity: 5_012_345n })))
    const [entry, exit] = sentOrders(stage)
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

  it('goes nothing that the venue could not find again', async () => {
    const stage = await stageOf()
    const answer = await stage.run(stage.broker.submit(entryOf('x'.repeat(37))))
    expect(answer).toMatchObject({ status: 'rejected' })
    expect(sentOrders(stage)).toEqual([])
  })

  it('goes the leverage of an entry where the venue has another one, and not before exits', async () => {
    const stage = await stageOf()
    await stage.run(stage.broker.submit(exitOf('exit-1')))
    expect(stage.venue.requests.some((request) => request.includes('/leverage?'))).toBe(false)
    for (const [index, leverage] of [2.9, 2, 1, 0.5, 3].entries())
      await stage.run(stage.broker.submit(entryOf(`entry-${index}`, { leverage })))
    const told = stage.venue.requests.filter((request) => request.includes('/leverage?'))
    expect(told.map((request) => /leverage=(\d+)/.exec(request)?.[1])).toEqual(['2', '1', '3'])
  })

  it('goes nothing to a venue that is not there', async () => {
    const stage = await stageOf()
    await stage.run(stage.broker.preflight(['BTC']))
    await stage.venue.close()
    const answer = await stage.run(stage.broker.submit(exitOf('exit-1')))
    // A connection from before may have broken; a new one was never made.
    expect(['rejected', 'unclear']).toContain(answer.status)
    expect(await stage.run(stage.broker.submit(exitOf('exit-2')))).toMatchObject({ status: 'rejected' })
  })
})

describe('the clock', () => {
  it('of the venue is what orders are signed by', async () => {
    const stage = await stageOf()
    stage.venue.world.skewMs = -30_000
    const checks = await stage.run(stage.broker.preflight(['BTC']))
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'clock' }])
    expect((await stage.run(stage.broker.submit(entryOf('entry-1')))).status).toBe('accepted')
  })

  it('is measured again when the venue complains', async () => {
    const stage = await stageOf()
    await stage.run(stage.broker.preflight(['BTC']))
    stage.venue.world.skewMs = 90_000
    expect((await stage.run(stage.broker.submit(entryOf('entry-1')))).status).toBe('accepted')
    expect(stage.orders()).toHaveLength(1)
  })

  it('keeps an order from turning up after it was not found', async () => {
    const stage = await stageOf()
    await stage.run(stage.broker.preflight(['BTC']))
    stage.trouble('submit', 'silence_before', 1)
    const order = exitOf('late-1', { side: 'buy', reduceOnly: false })
    expect((await stage.run(stage.broker.submit(order))).status).toBe('unclear')
    expect((await stage.run(stage.broker.lookup(order))).status).toBe('not_found')
    stage.venue.release()
    expect(stage.orders()).toEqual([])
  })
})

describe('a limit', () => {
  it('holds everything back for as long as the venue asked', async () => {
    const stage = await stageOf()
    await stage.run(stage.broker.preflight(['BTC']))
    stage.trouble('submit', 'limit', 1)
    await stage.run(stage.broker.submit(entryOf('entry-1')))
    const before = stage.venue.requests.length
    const answer = await stage.run(stage.broker.submit(exitOf('exit-1', { side: 'buy', reduceOnly: false })))
    expect(answer).toMatchObject({ status: 'rejected' })
    expect(stage.venue.requests).toHaveLength(before)
    await stage.pass(30_000)
    const later = await stage.run(stage.broker.submit(exitOf('exit-2', { side: 'buy', reduceOnly: false })))
    expect(later.status).toBe('accepted')
  })
})

describe('a key', () => {
  it.each([
    ['that is wrong', { apiKey: 'wrong-key-0123456789', secret: 'wrong-secret-0123456789' }],
    ['with a wrong secret', { apiKey: 'venue-key-0123456789', secret: 'wrong-secret-0123456789' }],
  ])('%s passes no check, sends no order, and is never told', async (_, credentials) => {
    const stage = await stageOf({ credentials })
    const { broker, run } = stage
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
    const stage = await stageOf()
    Object.assign(stage.venue.world.account, changes)
    const checks = await stage.run(stage.broker.preflight(['BTC']))
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toContain(failing)
  })
})

describe('fees', () => {
  it('in another coin are worth what it trades at', async () => {
    const stage = await stageOf()
    stage.venue.world.account.feeAsset = 'BNB'
    const answer = await stage.run(stage.broker.submit(entryOf('entry-1')))
    const fills = answer.status === 'accepted' ? answer.report.fills : []
    const trades = stage.venue.world.account.trades
    expect(fills.length).toBe(trades.length)
    fills.forEach(({ feeUsd }, index) => {
      const coins = trades[index]?.commission ?? 0n
      const exact = (coins * 600n) / 100n
      expect(feeUsd - exact).toBeLessThanOrEqual(1n)
      expect(feeUsd).toBeGreaterThanOrEqual(exact)
    })
  })

  it('are not told before they are known', async () => {
    const stage = await stageOf()
    stage.venue.world.account.feeAsset = 'BNB'
    stage.venue.faults.add(/ticker/, { kind: 'drop' }, 3)
    const answer = await stage.run(stage.broker.submit(entryOf('entry-1')))
    expect(answer).toMatchObject({ status: 'accepted', report: { filledQuantity: units(0.05), fills: [] } })
    const looked = await stage.run(stage.broker.lookup(entryOf('entry-1')))
    expect(looked.status === 'found' ? looked.report.fills.length : 0).toBeGreaterThan(0)
  })

  it('in a coin that the venue does not trade are what a taker pays', async () => {
    const stage = await stageOf()
    stage.venue.world.account.feeAsset = 'ODD'
    const answer = await stage.run(stage.broker.submit(entryOf('entry-1')))
    const fills = answer.status === 'accepted' ? answer.report.fills : []
    expect(fills.reduce((sum, { feeUsd }) => sum + feeUsd, 0n)).toBeGreaterThanOrEqual(1_500_000n)
  })
})

it('what was paid for holding positions is told as the venue tells it', async () => {
  const stage = await stageOf()
  await stage.run(stage.broker.preflight(['BTC']))
  await stage.run(stage.broker.submit(entryOf('entry-1')))
  chargeFunding(stage.venue.world, 'BTC', 0.0001)
  const atMs = stage.timer.now()
  // The first look at the account does not wait for it.
  expect((await stage.run(stage.broker.account()))?.fundings).toEqual([])
  await stage.pass(30_000)
  const account = await stage.run(stage.broker.account())
  // 0.05 at 60,000, of which longs pay a ten-thousandth.
  expect(account?.fundings).toEqual([{ id: '9000', symbol: 'BTC', paidUsd: 300_000n, atMs }])
  // The list is not read again at once.
  expect((await stage.run(stage.broker.account()))?.fundings).toEqual([])
})

it('an exchange without a sandbox says so, and a sandbox is no real account', async () => {
  const open = (exchange: string) =>
    createCcxtBroker({
      exchange,
      credentials: { apiKey: 'k', secret: 's' },
      leverageMax: 1,
      timer: createSystemTimer(),
    })
  const none = open('kraken-sandbox')
  expect((await none.submit(entryOf('entry-1'))).status).toBe('rejected')
  expect((await none.preflight(['BTC']))[0]?.detail).toContain('no sandbox')
  const { exchange } = await openExchange({
    id: 'binanceusdm-sandbox',
    credentials: { apiKey: 'k', secret: 's' },
    baseUrl: undefined,
    requestTimeoutMs: 1000,
    timer: createSystemTimer(),
    fetch,
  })
  expect(JSON.stringify(exchange.urls.api)).toContain('demo-fapi.binance.com')
  expect(JSON.stringify(exchange.urls.api)).not.toContain('"https://fapi.binance.com')
})

it('an exchange that is not known passes nothing and sends nothing', async () => {
  const broker = createCcxtBroker({
    exchange: 'nowhere',
    credentials: { apiKey: 'k', secret: 's' },
    leverageMax: 1,
    timer: createSystemTimer(),
  })
  const checks = await broker.preflight(['BTC'])
  expect(checks.every(({ ok, detail }) => !ok && detail.includes('nowhere'))).toBe(true)
  expect((await broker.submit(entryOf('entry-1'))).status).toBe('rejected')
  expect((await broker.lookup(entryOf('entry-1'))).status).toBe('unclear')
  expect((await broker.cancel(entryOf('entry-1'))).status).toBe('unclear')
  expect(await broker.account()).toBeNull()
  expect(broker.stepsOf('BTC')).toBeNull()
  await broker.close()
})

it('a venue that cannot search by our names says so', async () => {
  const broker = createCcxtBroker({
    exchange: 'kraken',
    credentials: { apiKey: 'k', secret: 's' },
    leverageMax: 1,
    timer: createSystemTimer(),
  })
  expect(await broker.lookup(entryOf('entry-1'))).toEqual({ status: 'impossible' })
  await broker.close()
})
