import { timestampAt } from '../../core/shared/time.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  createMemoryExchange,
  type MemoryExchange,
} from '../../../test/simulation/memory-exchange.fixture.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  VENUE,
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

const pass = (ms: number): Promise<void> => passTime(timer, ms)
const types = async () => (await allRecords(log)).map(({ type }) => type)
const held = () => openPositionsOf(floor.engine.state.trading)

beforeEach(async () => {
  timer = createManualTimer(BEGIN_MS)
  exchange = createMemoryExchange(() => timer.now())
  log = new MemoryLog()
  await prepareForLive(log, BEGIN_MS)
  floor = await openLiveEngine({ log, broker: exchange, timer })
  await floor.router.start()
  await settle()
  await floor.bars({ BTC: 100, ETH: 100 })
})
afterEach(async () => {
  await floor.close()
  if (floor.errors.length > 0) throw new Error(floor.errors.join('\n'))
})

it('opens a position with the leverage that was decided', async () => {
  await floor.submitIntent({ leverage: 2 })
  await settle()
  expect([...exchange.orders.values()].map(({ order }) => order.leverage)).toEqual([2])
})

it('records what the venue charged for holding a position, once, and estimates nothing of it', async () => {
  await floor.submitIntent()
  await settle()
  await floor.bars({ BTC: 100 })
  await pass(60_000)
  const { cash } = floor.engine.state.trading.ledger
  exchange.takeFunding('BTC', 0.75)
  exchange.takeFunding('BTC', -0.25)
  exchange.takeFunding('ETH', 9)
  await pass(120_000)
  await floor.engine.execute({
    kind: 'apply-funding',
    at: timestampAt(timer.now()),
    reportedBy: VENUE,
  })
  expect((await types()).filter((type) => type === 'execution.funding_applied.v1')).toHaveLength(2)
  expect(held()[0]?.holding.funding).toBe(500_000n)
  expect(floor.engine.state.trading.ledger.cash).toBe(cash - 500_000n)
})

it('still counts what the venue charged when the position is closed already', async () => {
  await floor.submitIntent()
  await settle()
  await floor.bars({ BTC: 100 })
  await pass(60_000)
  exchange.takeFunding('BTC', 0.75)
  await floor.bars({ BTC: 94 })
  await settle()
  expect(held()).toEqual([])
  const { cash, realized } = floor.engine.state.trading.ledger
  await pass(60_000)
  const {
    trading: { ledger },
  } = floor.engine.state
  expect(ledger).toMatchObject({ cash: cash - 750_000n, realized: realized - 750_000n, funding: 750_000n })
  expect(ledger.cash).toBe(ledger.startBalance + ledger.realized)
})
