import { expect, it } from 'vitest'
import { openLiveEngine, prepareForLive } from '../../../test/simulation/live-engine.fixture.ts'
import { createMemoryExchange } from '../../../test/simulation/memory-exchange.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Broker } from '../../ports/broker.ts'
import { createManualTimer, settle } from '../../ports/manual-timer.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')

/** A venue that is slow to set the leverage of an entry in BTC, and loses the connection for one in ETH. */
const openSlowVenue = async () => {
  const timer = createManualTimer(BEGIN_MS)
  const exchange = createMemoryExchange(() => timer.now())
  let isSet: () => void = () => undefined
  const leverage = new Promise<void>((resolve) => {
    isSet = resolve
  })
  let isLost: () => void = () => undefined
  const connection = new Promise<void>((resolve) => {
    isLost = resolve
  })
  const broker: Broker = {
    ...exchange,
    // Nothing is sent after the deadline, as in every adapter.
    submit: async (order, deadline) => {
      await (order.symbol === 'ETH' ? connection : leverage)
      if (order.symbol === 'ETH') return { status: 'unclear', reason: 'the connection was lost' }
      if (!deadline.isOver()) return exchange.submit(order, deadline)
      return { status: 'not_sent', reason: 'the time is over', retryAfterMs: null }
    },
  }
  const log = new MemoryLog()
  await prepareForLive(log, BEGIN_MS)
  const live = await openLiveEngine({ log, broker, timer })
  await live.router.start()
  await settle()
  await live.bars({ BTC: 100, ETH: 100 })
  return { live, exchange, setLeverage: () => isSet(), loseConnection: () => isLost() }
}

it('does not leave, though the kill switch forbids it only while the venue takes its time for the leverage', async () => {
  const { live, exchange, setLeverage } = await openSlowVenue()
  await live.submitIntent()
  await settle()
  const { orders } = live.engine.state.trading
  expect([...orders.open.values()]).toMatchObject([{ status: 'submitting' }])

  await live.engine.execute({
    kind: 'set-kill-switch',
    move: { level: 2, reason: 'test', operator: 'op', surface: 'cli' },
  })
  setLeverage()
  await settle()

  expect(exchange.arrivals).toEqual([])
  expect([...live.engine.state.trading.orders.ended.values()]).toMatchObject([
    { status: 'canceled', cancelReason: 'kill_switch' },
  ])
  await live.close()
  expect(live.errors).toEqual([])
})

it('does not leave, though another order becomes unknown only while the venue takes its time', async () => {
  const { live, exchange, setLeverage, loseConnection } = await openSlowVenue()
  await live.submitIntent()
  await live.submitIntent({ symbol: 'ETH' })
  await settle()
  const statuses = () => [...live.engine.state.trading.orders.open.values()].map(({ status }) => status)
  expect(statuses()).toEqual(['submitting', 'submitting'])

  loseConnection()
  await settle()
  expect(statuses().toSorted()).toEqual(['submitting', 'unknown'])
  setLeverage()
  await settle()

  expect(exchange.arrivals).toEqual([])
  expect([...live.engine.state.trading.orders.ended.values()]).toMatchObject([
    { symbol: 'BTC', status: 'canceled' },
  ])
  const [intent] = live.engine.state.trading.intents.values()
  expect(intent).toMatchObject({ status: 'rejected', reasons: ['order_unknown'] })
  await live.close()
  expect(live.errors).toEqual([])
})
