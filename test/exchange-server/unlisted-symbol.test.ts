import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCcxtBroker } from '../../src/adapters/brokers/ccxt/ccxt-broker.ts'
import {
  openBrokerFixture,
  type CcxtBrokerFixture,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import { isProtectiveStop } from '../../src/core/trading/orders/orders.ts'
import type { Broker } from '../../src/ports/broker.ts'
import { settle } from '../../src/ports/manual-timer.fixture.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../simulation/live-engine.fixture.ts'

// A position with a stop at the venue, in a symbol that the venue has removed from its list when the service starts again.

let fixture: CcxtBrokerFixture
let broker: Broker
let log: MemoryLog
let live: LiveEngine

const open = async (symbols: readonly string[]): Promise<void> => {
  const { venue, timer } = fixture
  const { apiKey, secret, passphrase } = venue.world.account
  broker = createCcxtBroker({
    exchange: 'binanceusdm',
    credentials: { apiKey, secret, password: passphrase },
    leverageMax: 3,
    timer,
    baseUrl: venue.baseUrl,
  })
  live = await openLiveEngine({ log, broker, timer, symbols })
  await live.router.start()
  await until(() => live.engine.state.trading.venue.checked?.ok === true)
  await live.bars(Object.fromEntries(symbols.map((symbol) => [symbol, PRICES[symbol] ?? 0])))
}
const PRICES: Readonly<Record<string, number>> = { BTC: 60_000, ETH: 3000 }

const close = async (): Promise<void> => {
  await fixture.run(live.close())
  await broker.close()
}

beforeEach(async () => {
  fixture = await openBrokerFixture()
  log = new MemoryLog()
  await prepareForLive(log, fixture.now())
  await open(['BTC', 'ETH'])
  await live.submitIntent()
  await until(() => stops().some(({ status }) => status === 'open'))
  await close()
  fixture.delist('BTC')
  await open(['ETH'])
})
afterEach(async () => {
  await close()
  await fixture.close()
  if (live.errors.length > 0) throw new Error(live.errors.join('\n'))
})

const pass = async (ms: number): Promise<void> => {
  for (let step = 0; step < ms; step += STEP_MS) {
    await fixture.timer.advance(STEP_MS)
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await settle()
      await new Promise((resolve) => setTimeout(resolve, 1))
      if (fixture.venue.answering() > 0) quiet = 0
    }
  }
}
const STEP_MS = 250

const until = async (isSo: () => boolean): Promise<void> => {
  for (let step = 0; step < 400 && !isSo(); step += 1) await pass(STEP_MS)
  expect(isSo()).toBe(true)
}

const stops = () => [...live.engine.state.trading.orders.open.values()].filter(isProtectiveStop)
const held = () => openPositionsOf(live.engine.state.trading).map(({ terms }) => terms.asset)
const alerts = async () =>
  (await allRecords(log))
    .filter(({ type }) => type === 'alert.execution')
    .map(({ payload }) => (JSON.parse(payload) as { readonly cause: string }).cause)

describe('an order in a symbol that the venue does not list any more', () => {
  it('is left to an operator, who ends it, and trading in other symbols goes on', async () => {
    await pass(5000)
    expect(stops()).toMatchObject([{ status: 'unknown', needsOperator: true }])
    expect(await alerts()).toEqual(['order_unknown'])
    // Reported once, however often the order is looked up.
    await pass(30_000)
    expect(await alerts()).toEqual(['order_unknown'])

    // The venue has settled the position, and the operator has looked.
    fixture.venue.world.account.holdings.delete('BTC')
    const by = { operator: 'op', surface: 'cli' } as const
    const [stop] = stops()
    if (stop === undefined) throw new Error('there is no stop')
    await live.engine.execute({ kind: 'cancel-order', request: { orderId: stop.id, reason: null, ...by } })
    await until(() => live.engine.state.trading.venue.missing.length > 0)
    await live.engine.execute({ kind: 'resume-live', reason: 'settled', ...by })
    expect(held()).toEqual([])

    await live.bars({ ETH: 3000 })
    await live.submitIntent({ symbol: 'ETH' })
    await pass(5000)
    expect(held()).toEqual(['ETH'])
  })

  it('is found when the venue lists it again', async () => {
    await pass(5000)
    expect(stops()).toMatchObject([{ status: 'unknown', needsOperator: true }])
    fixture.venue.world.delisted.clear()
    // The list is read again every hour.
    await fixture.timer.jump(3_600_000)
    await until(() => stops().some(({ status }) => status === 'open'))
    expect(held()).toEqual(['BTC'])
  })
})
