import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  openBrokerFixture,
  type CcxtBrokerFixture,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import { isAtRest } from '../../src/core/trading/orders/orders.ts'
import { settle } from '../../src/ports/manual-timer.fixture.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../simulation/live-engine.fixture.ts'

// The engine with default settings, the real adapter, and an exchange that accepts a second order under the same client
// order id as soon as the first has ended, as Binance does. Requests are real. The test moves the time.

const ORDER = /POST .*\/v1\/order$/
const LEVERAGE = /\/leverage$/
const TIME = /\/time$/

let fixture: CcxtBrokerFixture
let log: MemoryLog
let live: LiveEngine

beforeEach(async () => {
  fixture = await openBrokerFixture()
  log = new MemoryLog()
  await prepareForLive(log, fixture.now())
  live = await openLiveEngine({ log, broker: fixture.broker, timer: fixture.timer })
  await live.router.start()
  await until(() => live.engine.state.trading.venue.checked?.ok === true)
  await live.bars({ BTC: 60_000, ETH: 3000 })
})
afterEach(async () => {
  fixture.venue.faults.clear()
  await fixture.run(live.close())
  await fixture.broker.close()
  await fixture.close()
  if (live.errors.length > 0) throw new Error(live.errors.join('\n'))
})

/** Advances the time, and waits in each step for the running requests. */
const pass = async (ms: number): Promise<void> => {
  for (let step = 0; step < ms; step += STEP_MS) {
    await fixture.timer.advance(STEP_MS)
    await answered()
  }
}
const STEP_MS = 250

const answered = async (): Promise<void> => {
  for (let quiet = 0; quiet < 3; quiet += 1) {
    await settle()
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (fixture.venue.answering() > 0) quiet = 0
  }
}

const until = async (isSo: () => boolean): Promise<void> => {
  for (let step = 0; step < 400 && !isSo(); step += 1) await pass(STEP_MS)
  expect(isSo()).toBe(true)
}

/** Client order ids that the exchange placed more than once. */
const placedTwice = (): readonly string[] => {
  const ids = fixture.orders().map(({ clientOrderId }) => clientOrderId)
  return ids.filter((id, index) => ids.indexOf(id) !== index)
}
const netOf = (base: string): bigint => fixture.venue.world.account.holdings.get(base)?.quantity ?? 0n
const held = () => openPositionsOf(live.engine.state.trading)
const eventsOf = async (type: string) => (await allRecords(log)).filter((record) => record.type === type)

/** Open orders without the stop that rests at the venue. */
const underWay = () => [...live.engine.state.trading.orders.open.values()].filter((order) => !isAtRest(order))

const expectOneOrder = (): void => {
  expect(placedTwice()).toEqual([])
  expect(fixture.orders()).toHaveLength(1)
  expect(held().map(({ holding }) => holding.quantity)).toEqual([netOf('BTC')])
  expect(underWay()).toEqual([])
}

describe('an order at a venue that takes a client order id twice', () => {
  it('is sent once although every request before it is slow, and its timestamps are refused', async () => {
    const { faults } = fixture.venue
    // Nine and a half seconds for each request up to the next one: the order itself would leave after 47 s.
    faults.add(LEVERAGE, { kind: 'slow', waitMs: 9500 }, 1)
    faults.add(TIME, { kind: 'done_then_slow', waitMs: 9500 }, 1)
    faults.add(LEVERAGE, { kind: 'done_then_slow', waitMs: 9500 }, 1)
    faults.add(ORDER, { kind: 'slow', waitMs: 9500 }, 1)
    faults.add(TIME, { kind: 'done_then_slow', waitMs: 9500 }, 1)
    await live.submitIntent()
    await pass(11_000)
    // The order was never sent, and the engine knows that.
    expect(underWay()).toEqual([])
    await pass(80_000)
    expect(fixture.orders()).toEqual([])
    await live.bars({ BTC: 60_000 })
    faults.clear()
    await live.submitIntent()
    await pass(5000)
    expectOneOrder()
  })

  it.each([0, 1000, 4750])(
    'is found although the venue accepts it %i ms after the connection broke',
    async (waitMs) => {
      fixture.venue.faults.add(ORDER, { kind: 'drop_then_done', waitMs }, 1)
      await live.submitIntent()
      await pass(60_000)
      expectOneOrder()
      expect(await eventsOf('execution.order_unknown.v1')).toHaveLength(1)
      expect((await eventsOf('execution.order_reconciled.v1')).map(({ payload }) => payload)).toEqual([
        expect.stringContaining('"found":true'),
      ])
    },
  )

  it.each([4750, 12_000, 25_000])(
    'is sent again only when the first attempt can no longer arrive (held up for %i ms)',
    async (waitMs) => {
      fixture.venue.faults.add(ORDER, { kind: 'slow', waitMs }, 1)
      await live.submitIntent()
      await pass(70_000)
      expectOneOrder()
    },
  )

  it('is the same one when its resend is slow, too', async () => {
    fixture.venue.faults.add(ORDER, { kind: 'slow', waitMs: 20_000 }, 1)
    fixture.venue.faults.add(ORDER, { kind: 'drop_then_done', waitMs: 4000 }, 1)
    await live.submitIntent()
    await pass(120_000)
    expectOneOrder()
  })
})

describe('a stop during a ban of 150 s', () => {
  const BAN = {
    kind: 'refuse',
    status: 418,
    code: -1003,
    message: 'Way too many requests; IP banned.',
    retryAfterSeconds: 150,
  } as const

  it('is executed when the ban is over, and the alert says so', async () => {
    await live.submitIntent()
    await pass(5000)
    expectOneOrder()
    await pass(55_000)
    fixture.venue.faults.add(ORDER, BAN, 1)
    fixture.setPrice('BTC', 5_600_000_000_000n)
    const beganMs = fixture.now()
    await live.bars({ BTC: 56_000 })
    await pass(149_000)
    expect(held()).toHaveLength(1)
    const alerts = (await eventsOf('alert.execution')).map(({ payload }) => JSON.parse(payload))
    expect(alerts).toMatchObject([{ cause: 'exit_failed', repeat: 0 }])
    expect(alerts[0].message).toContain('still trying, next attempt at')
    expect(alerts[0].message).toContain('Attempts: 1, of which the venue examined 0')
    const next = Date.parse(/next attempt at (\S+Z)/.exec(alerts[0].message)?.[1] ?? '')
    expect(next - beganMs).toBeGreaterThanOrEqual(150_000)
    expect(next - beganMs).toBeLessThan(152_000)
    await pass(10_000)
    expect(held()).toEqual([])
    expect(netOf('BTC')).toBe(0n)
    // The refused attempt and the filled one.
    expect(await eventsOf('execution.order_submitted.v1')).toHaveLength(3)
  })
})
