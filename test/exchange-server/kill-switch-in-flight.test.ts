import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  openBrokerFixture,
  type CcxtBrokerFixture,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import { settle } from '../../src/ports/manual-timer.fixture.ts'
import type { Fault } from './faults.ts'
import { openLiveEngine, prepareForLive, type LiveEngine } from '../simulation/live-engine.fixture.ts'

// The real adapter, and a kill switch that is raised while the requests of an order are on their way or wait.

const ORDER = /POST .*\/v1\/order$/
const LEVERAGE = /POST .*\/leverage$/
const MARGIN = /GET .*\/symbolConfig$/
const TIME = /\/time$/
const TICKERS = /\/ticker\//

const LIMIT: Fault = { kind: 'refuse', status: 429, code: -1003, message: 'Too many.', retryAfterSeconds: 4 }
const CLOCK: Fault = { kind: 'refuse', status: 400, code: -1021, message: 'Timestamp.' }

let fixture: CcxtBrokerFixture
let live: LiveEngine

beforeEach(async () => {
  fixture = await openBrokerFixture()
  const log = new MemoryLog()
  await prepareForLive(log, fixture.now())
  // Stops at the venue are orders of their own, with tests of their own.
  live = await openLiveEngine({
    log,
    broker: fixture.broker,
    timer: fixture.timer,
    execution: { venue_stops: false },
  })
  await live.router.start()
  await until(() => live.engine.state.trading.venue.checked?.ok === true)
  await live.bars({ BTC: 60_000, ETH: 3000 })
})
afterEach(async () => {
  fixture.venue.faults.clear()
  fixture.venue.release()
  await fixture.run(live.close())
  await fixture.broker.close()
  await fixture.close()
  if (live.errors.length > 0) throw new Error(live.errors.join('\n'))
})

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

const setLevel = (level: 0 | 2 | 3) =>
  live.engine.execute({
    kind: 'set-kill-switch',
    move: { level, reason: 'test', operator: 'op', surface: 'cli' },
  })

/** Requests for an order that reached the venue, whatever became of them. */
const sent = (): number => fixture.venue.requests.filter((text) => text.includes('newClientOrderId=')).length
const asked = (what: RegExp): number =>
  fixture.venue.requests.filter((text) => what.test(text.split('?')[0] ?? '')).length
const netOf = (base: string): bigint => fixture.venue.world.account.holdings.get(base)?.quantity ?? 0n
const held = () => openPositionsOf(live.engine.state.trading)
const lastEnded = () =>
  [...live.engine.state.trading.orders.ended.values()].toSorted((one, other) =>
    one.endedAt < other.endedAt ? 1 : -1,
  )[0]

/** From now on every request of the broker waits for four seconds. */
const holdBack = async (): Promise<void> => {
  fixture.venue.faults.add(TICKERS, LIMIT, 1)
  await fixture.run(fixture.broker.quotes(['BTC']))
}

describe('an entry whose kill switch is raised', () => {
  const expectNoEntry = (requests = 0): void => {
    expect(sent()).toBe(requests)
    expect(fixture.orders()).toEqual([])
    expect(live.engine.state.trading.orders.open.size).toBe(0)
    expect(lastEnded()).toMatchObject({ status: 'canceled', cancelReason: 'kill_switch' })
  }

  it.each([
    ['the venue is asked for the margin', MARGIN],
    ['the venue sets the leverage', LEVERAGE],
  ])('while %s is not sent', async (_, request) => {
    fixture.venue.faults.add(request, { kind: 'slow', waitMs: 4000 }, 1)
    await live.submitIntent({ leverage: 2 })
    await pass(2000)
    expect(fixture.venue.inFlight()).toBe(1)
    await setLevel(2)
    await pass(12_000)
    expectNoEntry()
  })

  it('while the venue sets the leverage is not sent after it is lowered again', async () => {
    fixture.venue.faults.add(LEVERAGE, { kind: 'slow', waitMs: 4000 }, 1)
    await live.submitIntent({ leverage: 2 })
    await pass(2000)
    await setLevel(2)
    await setLevel(0)
    await pass(12_000)
    expectNoEntry()
  })

  it('while its first request waits for the rate limit is not sent', async () => {
    await holdBack()
    await live.submitIntent()
    await pass(1000)
    expect(asked(MARGIN)).toBe(0)
    await setLevel(2)
    await pass(12_000)
    expectNoEntry()
    expect(asked(/symbolConfig$/)).toBe(0)
  })

  it('while the request of the order itself waits for the rate limit is not sent', async () => {
    fixture.venue.faults.add(MARGIN, { kind: 'slow', waitMs: 2000 }, 1)
    await live.submitIntent()
    await pass(500)
    await holdBack()
    await pass(2500)
    expect(sent()).toBe(0)
    await setLevel(2)
    await pass(12_000)
    expectNoEntry()
  })

  it('while it waits for the right time after its timestamp was refused is not sent again', async () => {
    fixture.venue.faults.add(ORDER, CLOCK, 1)
    fixture.venue.faults.add(TIME, { kind: 'slow', waitMs: 3000 }, 1)
    await live.submitIntent()
    await pass(1000)
    expect(sent()).toBe(1)
    await setLevel(2)
    await pass(12_000)
    expectNoEntry(1)
  })

  it('while it is looked for is not sent again', async () => {
    fixture.venue.faults.add(ORDER, { kind: 'drop' }, 1)
    await live.submitIntent()
    await pass(10_000)
    expect([...live.engine.state.trading.orders.open.values()]).toMatchObject([{ status: 'unknown' }])
    await setLevel(2)
    await pass(45_000)
    expect(sent()).toBe(1)
    expect(fixture.orders()).toEqual([])
    expect(live.engine.state.trading.orders.open.size).toBe(0)
  })

  it('after it has left is recorded with what it bought', async () => {
    fixture.venue.faults.add(ORDER, { kind: 'done_then_slow', waitMs: 3000 }, 1)
    await live.submitIntent()
    await pass(1000)
    expect(sent()).toBe(1)
    await setLevel(2)
    await pass(30_000)
    expect(held().map(({ holding }) => holding.quantity)).toEqual([netOf('BTC')])
    expect(netOf('BTC')).toBeGreaterThan(0n)
    expect(live.engine.state.trading.orders.open.size).toBe(0)
  })
})

describe('an exit that waits for the rate limit', () => {
  beforeEach(async () => {
    await live.submitIntent()
    await until(() => held().length === 1)
    await pass(55_000)
  })

  const stopHit = async (): Promise<void> => {
    await holdBack()
    fixture.setPrice('BTC', 5_600_000_000_000n)
    await live.bars({ BTC: 56_000 })
    await pass(1000)
    expect(sent()).toBe(1)
  }

  it('leaves at level 2', async () => {
    await stopHit()
    await setLevel(2)
    await pass(10_000)
    expect(netOf('BTC')).toBe(0n)
    expect(held()).toEqual([])
  })

  it('stays at level 3, and leaves when an operator orders it', async () => {
    await stopHit()
    await setLevel(3)
    await pass(30_000)
    expect(sent()).toBe(1)
    expect(netOf('BTC')).toBeGreaterThan(0n)
    const [position] = held()
    if (position === undefined) throw new Error('nothing is held')
    const by = { operator: 'op', surface: 'cli' } as const
    await live.engine.execute({ kind: 'close-position', positionId: position.id, by })
    await pass(10_000)
    expect(netOf('BTC')).toBe(0n)
    expect(held()).toEqual([])
  })

  it('leaves after level 3 is lowered to 2', async () => {
    await stopHit()
    await setLevel(3)
    await pass(30_000)
    await setLevel(2)
    await pass(30_000)
    expect(netOf('BTC')).toBe(0n)
    expect(held()).toEqual([])
  })
})
