import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { openBrokerStage, type CcxtBrokerStage } from '../../src/adapters/brokers/ccxt/stage.contract.ts'
import { unitsFrom } from '../../src/core/vocabulary/money.ts'
import { createManualTimer, settle, type ManualTimer } from '../../src/ports/manual-timer.contract.ts'
import { createExchange } from './exchange.ts'
import { orderScenarios, type Ground } from './order-scenarios.contract.ts'
import { openFloor, preparedForLive } from './trading-floor.ts'

const BEGIN_MS = Date.parse('2026-02-20T12:34:56.789Z')

const onPaper = async (log: MemoryLog, timer: ManualTimer): Promise<Ground> => {
  const floor = await openFloor({
    log,
    broker: createExchange(() => timer.now()),
    timer,
    execution: { mode: 'paper', venue: '' },
  })
  return {
    floor,
    price: async (prices) => {
      await timer.advance(60_000)
      await floor.bars(prices)
    },
    settle,
    restart: async () => {
      floor.drop()
      return onPaper(log, timer)
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
      await stage.run(
        new Promise((resolve) => {
          setTimeout(resolve, 20)
        }),
      )
      const { orders, venue } = engine.state
      const isMoving = orders.open.size > 0 && engine.state.killSwitch.level < 3
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

orderScenarios('on paper', () => onPaper(new MemoryLog(), createManualTimer(BEGIN_MS)))

orderScenarios('at a venue', async () => {
  const log = new MemoryLog()
  const stage = await openBrokerStage()
  await preparedForLive(log, stage.timer.now())
  return atVenue(log, stage)
})
