import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openBrokerStage, type CcxtBrokerStage } from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { clientOrderId } from '../../src/core/trading/entry.ts'
import { unitsFrom } from '../../src/core/shared/money.ts'
import { createManualTimer, settle, type ManualTimer } from '../../src/ports/manual-timer.fixture.ts'
import { createExchange } from './exchange.ts'
import { orderScenarios, type Ground, type GroundOptions } from './order-scenarios.contract.ts'
import { openFloor, preparedForLive } from './trading-floor.ts'

const BEGIN_MS = Date.parse('2026-02-20T12:34:56.789Z')

/** Of a bar: a tenth of it is a part of an order. */
const SMALL_VOLUME = 0.01

const onPaper = async (log: MemoryLog, timer: ManualTimer, { inParts }: GroundOptions): Promise<Ground> => {
  const floor = await openFloor({
    log,
    broker: createExchange(() => timer.now()),
    timer,
    execution: { mode: 'paper', venue: '', paper_partial_fills: inParts },
  })
  const trade = async (volume: number): Promise<void> => {
    await timer.advance(60_000)
    await floor.bars({ BTC: 60_000 }, volume)
    await settle()
  }
  return {
    floor,
    price: async (prices) => {
      await timer.advance(60_000)
      await floor.bars(prices)
    },
    fillSome: () => trade(SMALL_VOLUME),
    fillRest: () => trade(1),
    settle,
    restart: async () => {
      floor.drop()
      return onPaper(log, timer, { inParts })
    },
    close: () => floor.close(),
  }
}

const atVenue = async (log: MemoryLog, stage: CcxtBrokerStage): Promise<Ground> => {
  const floor = await openFloor({ log, broker: stage.broker, timer: stage.timer })
  await stage.run(floor.desk.start())
  /** Requests take real time: until nothing is under way any more. */
  const rest = async (): Promise<void> => {
    const { engine } = floor
    for (let turn = 0; turn < 1000; turn += 1) {
      await stage.run(nextTurn())
      const {
        trading: { orders },
        trading: { venue },
      } = engine.state
      const isMoving =
        engine.state.trading.killSwitch.level < 3 &&
        orders.open.some(({ status, cancelReason }) => status !== 'partial' || cancelReason !== null)
      if (turn > 3 && venue.checked?.ok === true && !isMoving) return
    }
  }
  await rest()
  return {
    floor,
    price: async (prices) => {
      for (const [symbol, price] of Object.entries(prices)) stage.setPrice(symbol, unitsFrom(price))
      await stage.timer.advance(60_000)
      await floor.bars(prices)
    },
    fillSome: rest,
    fillRest: async () => {
      for (const { id } of floor.engine.state.trading.orders.open.values()) stage.fillRest(clientOrderId(id))
      while (floor.engine.state.trading.orders.open.size > 0) await stage.run(nextTurn())
    },
    settle: rest,
    restart: async () => {
      floor.drop()
      return atVenue(log, stage)
    },
    close: async () => {
      await stage.run(floor.close())
      await stage.broker.close()
      await stage.close()
    },
  }
}

const nextTurn = (): Promise<void> => sleep(20)

orderScenarios('on paper', (wishes) => onPaper(new MemoryLog(), createManualTimer(BEGIN_MS), wishes))

orderScenarios('at a venue', async ({ inParts }) => {
  const log = new MemoryLog()
  const stage = await openBrokerStage()
  await preparedForLive(log, stage.timer.now())
  if (inParts) stage.trouble('submit', 'part_then_open', 1)
  return atVenue(log, stage)
})
