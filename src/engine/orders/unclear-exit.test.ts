import { expect, it } from 'vitest'
import { allRecords, openLiveEngine, prepareForLive } from '../../../test/simulation/live-engine.fixture.ts'
import { createMemoryExchange } from '../../../test/simulation/memory-exchange.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import type { Broker } from '../../ports/broker.ts'
import { createManualTimer, passTime, settle } from '../../ports/manual-timer.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')

it('an exit of which a silent venue says nothing raises an alert, which is repeated, and ends when it is found', async () => {
  const timer = createManualTimer(BEGIN_MS)
  const exchange = createMemoryExchange(() => timer.now())
  let isSilent = false
  const unclear = { status: 'unclear', reason: 'no response within 10000 ms' } as const
  const broker: Broker = {
    ...exchange,
    stops: null,
    submit: async (order, deadline) => {
      const result = await exchange.submit(order, deadline)
      return isSilent ? unclear : result
    },
    lookup: (order, deadline) => (isSilent ? Promise.resolve(unclear) : exchange.lookup(order, deadline)),
  }
  const log = new MemoryLog()
  await prepareForLive(log, BEGIN_MS)
  const live = await openLiveEngine({ log, broker, timer })
  await live.router.start()
  await settle()
  await live.bars({ BTC: 100, ETH: 100 })
  await live.submitIntent()
  await passTime(timer, 60_000)
  const alerts = async () =>
    (await allRecords(log))
      .filter(({ type }) => type === 'alert.execution')
      .map(({ payload }) => JSON.parse(payload) as { cause: string; repeat: number; message: string })

  isSilent = true
  await live.bars({ BTC: 94 })
  await passTime(timer, 58_000)
  expect(await alerts()).toEqual([])
  await passTime(timer, 6000)
  expect(await alerts()).toMatchObject([{ cause: 'exit_failed', repeat: 0 }])
  expect((await alerts())[0]?.message).toContain('whether the last attempt has arrived is not known')
  await passTime(timer, 900_000)
  expect((await alerts()).map(({ repeat }) => repeat)).toEqual([0, 1])

  isSilent = false
  await passTime(timer, 6000)
  expect(live.engine.state.trading.book.count).toBe(0)
  expect(await alerts()).toHaveLength(2)
  await live.close()
  expect(live.errors).toEqual([])
})
