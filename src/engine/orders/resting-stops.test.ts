import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createMemoryExchange,
  type MemoryExchange,
} from '../../../test/simulation/memory-exchange.fixture.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../../../test/simulation/live-engine.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { openPositionsOf } from '../../core/trading/positions/book.ts'
import { createManualTimer, passTime, settle, type ManualTimer } from '../../ports/manual-timer.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')

let timer: ManualTimer
let exchange: MemoryExchange
let log: MemoryLog
let floor: LiveEngine

const open = async (): Promise<void> => {
  floor = await openLiveEngine({ log, broker: exchange, timer })
  await floor.router.start()
  await settle()
}
const pass = (ms: number): Promise<void> => passTime(timer, ms)
const types = async () => (await allRecords(log)).map(({ type }) => type)
const held = () => openPositionsOf(floor.engine.state.trading)

describe('protective stops', () => {
  const stops = () => [...exchange.orders.values()].filter(({ triggerPrice }) => triggerPrice !== null)
  const restingStops = () => stops().filter(({ status }) => status === 'open')

  beforeEach(async () => {
    timer = createManualTimer(BEGIN_MS)
    exchange = createMemoryExchange(() => timer.now(), { restingStops: true })
    log = new MemoryLog()
    await prepareForLive(log, BEGIN_MS)
    await open()
    await floor.bars({ BTC: 100, ETH: 100 })
    await floor.submitIntent()
    await settle()
  })

  afterEach(async () => {
    await floor.close()
    if (floor.errors.length > 0) throw new Error(floor.errors.join('\n'))
  })

  it('rest at the venue as soon as the position is open', () => {
    const [stop, ...others] = restingStops()
    expect(others).toEqual([])
    expect(stop).toMatchObject({
      order: { side: 'sell', reduceOnly: true, quantity: exchange.netOf('BTC') },
      triggerPrice: held()[0]?.holding.stopLoss,
    })
  })

  it('end the position while no engine runs, and the next one finds it out', async () => {
    floor.drop()
    await settle()
    exchange.setPrice('BTC', 90)
    expect(exchange.netOf('BTC')).toBe(0n)
    await pass(60_000)
    await open()
    await pass(5000)
    expect(held()).toEqual([])
    const closed = (await allRecords(log)).find(
      ({ type, payload }) => type === 'execution.position_closed.v1' && payload.includes('"live"'),
    )
    expect(JSON.parse(closed?.payload ?? '{}')).toMatchObject({
      exit_reason: 'stop_loss',
      exit_price: 90,
      trigger: { kind: 'venue', price: 95 },
    })
    expect(floor.engine.state.trading.venue.reduceOnly).toBeNull()
  })

  it('that are triggered between two prices of ours are found by the comparison of accounts', async () => {
    exchange.setPrice('BTC', 90)
    await pass(40_000)
    expect(held()).toEqual([])
    expect(floor.engine.state.trading.venue.reduceOnly).toBeNull()
    expect(await types()).not.toContain('execution.venue_differs.v1')
  })

  it('and an exit of ours at the same moment sell no more than is held', async () => {
    exchange.setPrice('BTC', 90)
    await pass(60_000)
    await floor.bars({ BTC: 90 })
    await pass(10_000)
    expect(exchange.netOf('BTC')).toBe(0n)
    expect(held()).toEqual([])
    expect(floor.engine.state.trading.orders.open.size).toBe(0)
  })

  it('are canceled with the position, before the next one in the symbol is opened', async () => {
    await floor.engine.execute({
      kind: 'close-all',
      by: { operator: 'op', surface: 'cli' },
    })
    await settle()
    expect(restingStops()).toEqual([])
    await floor.submitIntent()
    await settle()
    expect(restingStops()).toHaveLength(1)
    expect(stops()).toHaveLength(2)
  })

  it('that somebody removed at the venue come back', async () => {
    for (const stop of restingStops()) stop.status = 'canceled'
    await pass(30_000)
    expect(restingStops()).toHaveLength(1)
  })

  it('whose answer is lost do not keep an exit waiting', async () => {
    for (const stop of restingStops()) stop.status = 'canceled'
    exchange.treat('lose-hang')
    await pass(25_000)
    exchange.failLookups(...Array<'unclear'>(100).fill('unclear'))
    await pass(35_000)
    expect(floor.engine.state.trading.orders.open.first()).toMatchObject({ status: 'unknown' })
    await floor.bars({ BTC: 94 })
    await pass(3000)
    expect(exchange.netOf('BTC')).toBe(0n)
    expect(held()).toEqual([])
  })
})
