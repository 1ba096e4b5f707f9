import { expect, it } from 'vitest'
import { openLiveEngine, prepareForLive } from '../../../test/simulation/live-engine.fixture.ts'
import { createMemoryExchange } from '../../../test/simulation/memory-exchange.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Broker } from '../../ports/broker.ts'
import { createManualTimer, settle } from '../../ports/manual-timer.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')

it('does not leave, though the kill switch forbids it only while the venue takes its time for the leverage', async () => {
  const timer = createManualTimer(BEGIN_MS)
  const exchange = createMemoryExchange(() => timer.now())
  let isSet: () => void = () => undefined
  const leverage = new Promise<void>((resolve) => {
    isSet = resolve
  })
  const broker: Broker = {
    ...exchange,
    // As every adapter does: nothing leaves after its deadline.
    submit: async (order, deadline) => {
      await leverage
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
  await live.submitIntent()
  await settle()
  const { orders } = live.engine.state.trading
  expect([...orders.open.values()]).toMatchObject([{ status: 'submitting' }])

  await live.engine.execute({
    kind: 'set-kill-switch',
    move: { level: 2, reason: 'test', operator: 'op', surface: 'cli' },
  })
  isSet()
  await settle()

  expect(exchange.arrivals).toEqual([])
  expect([...live.engine.state.trading.orders.ended.values()]).toMatchObject([
    { status: 'canceled', cancelReason: 'kill_switch' },
  ])
  await live.close()
  expect(live.errors).toEqual([])
})
