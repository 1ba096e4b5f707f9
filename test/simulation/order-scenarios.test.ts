import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import {
  openBrokerFixture,
  type CcxtBrokerFixture,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { priceFrom } from '../../src/core/shared/money.ts'
import { createManualTimer, settle, type ManualTimer } from '../../src/ports/manual-timer.fixture.ts'
import { createMemoryExchange } from './memory-exchange.fixture.ts'
import { orderScenarios, type ScenarioFixture, type ScenarioOptions } from './order-scenarios.contract.ts'
import { openLiveEngine, prepareForLive } from './live-engine.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T12:34:56.789Z')

/** Volume of a bar. A tenth of it fills only a part of an order. */
const SMALL_VOLUME = 0.01

const onPaper = async (
  log: MemoryLog,
  timer: ManualTimer,
  { inParts }: ScenarioOptions,
): Promise<ScenarioFixture> => {
  const live = await openLiveEngine({
    log,
    broker: createMemoryExchange(() => timer.now()),
    timer,
    execution: { mode: 'paper', venue: '', paper_partial_fills: inParts },
  })
  const trade = async (volume: number): Promise<void> => {
    await timer.advance(60_000)
    await live.bars({ BTC: 60_000 }, volume)
    await settle()
  }
  return {
    live,
    price: async (prices) => {
      await timer.advance(60_000)
      await live.bars(prices)
    },
    fillSome: () => trade(SMALL_VOLUME),
    fillRest: () => trade(1),
    settle,
    restart: async () => {
      live.drop()
      return onPaper(log, timer, { inParts })
    },
    close: () => live.close(),
  }
}

const atVenue = async (log: MemoryLog, fixture: CcxtBrokerFixture): Promise<ScenarioFixture> => {
  const live = await openLiveEngine({
    log,
    broker: fixture.broker,
    timer: fixture.timer,
    // Tests the engine's own stops. Stops at the venue have tests of their own.
    execution: { venue_stops: false },
  })
  await fixture.run(live.router.start())
  /** Waits until no order is being processed. Requests take real time. */
  const rest = async (): Promise<void> => {
    const { engine } = live
    for (let turn = 0; turn < 1000; turn += 1) {
      await fixture.run(nextTurn())
      const { orders, venue } = engine.state.trading
      const isMoving =
        engine.state.trading.killSwitch.level < 3 &&
        orders.open.some(({ status, cancelReason }) => status !== 'partial' || cancelReason !== null)
      if (turn > 3 && venue.checked?.ok === true && !isMoving) return
    }
  }
  await rest()
  return {
    live,
    price: async (prices) => {
      for (const [symbol, price] of Object.entries(prices)) fixture.setPrice(symbol, priceFrom(price))
      await fixture.timer.advance(60_000)
      await live.bars(prices)
    },
    fillSome: rest,
    fillRest: async () => {
      for (const { clientOrderId } of live.engine.state.trading.orders.open.values())
        fixture.fillRest(clientOrderId)
      while (live.engine.state.trading.orders.open.size > 0) await fixture.run(nextTurn())
    },
    settle: rest,
    restart: async () => {
      live.drop()
      return atVenue(log, fixture)
    },
    close: async () => {
      await fixture.run(live.close())
      await fixture.broker.close()
      await fixture.close()
    },
  }
}

const nextTurn = (): Promise<void> => sleep(20)

orderScenarios('on paper', (options) => onPaper(new MemoryLog(), createManualTimer(BEGIN_MS), options))

orderScenarios('at a venue', async ({ inParts }) => {
  const log = new MemoryLog()
  const fixture = await openBrokerFixture()
  await prepareForLive(log, fixture.timer.now())
  if (inParts) fixture.addFault('submit', 'part_then_open', 1)
  return atVenue(log, fixture)
})
