import { expect, it } from 'vitest'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../../../test/simulation/live-engine.fixture.ts'
import {
  createMemoryExchange,
  type MemoryExchange,
} from '../../../test/simulation/memory-exchange.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { createManualTimer, passTime, settle, type ManualTimer } from '../../ports/manual-timer.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')

interface Fixture {
  readonly timer: ManualTimer
  readonly exchange: MemoryExchange
  readonly live: LiveEngine
  readonly alerts: () => Promise<readonly { cause: string; repeat: number; message: string }[]>
}

/** A position whose exit the venue fills to a third, and leaves open. */
const withOpenExit = async (): Promise<Fixture> => {
  const timer = createManualTimer(BEGIN_MS)
  const exchange = createMemoryExchange(() => timer.now())
  const log = new MemoryLog()
  await prepareForLive(log, BEGIN_MS)
  const live = await openLiveEngine({ log, broker: exchange, timer })
  await live.router.start()
  await settle()
  await live.bars({ BTC: 100, ETH: 100 })
  await live.submitIntent()
  await passTime(timer, 60_000)
  exchange.treat('fill-some')
  await live.bars({ BTC: 94 })
  await settle()
  return {
    timer,
    exchange,
    live,
    alerts: async () =>
      (await allRecords(log))
        .filter(({ type }) => type === 'alert.execution')
        .map(({ payload }) => JSON.parse(payload) as { cause: string; repeat: number; message: string }),
  }
}

it('an exit that the venue leaves partly filled and open raises an alert in time, and is completed', async () => {
  const { timer, exchange, live, alerts } = await withOpenExit()
  await passTime(timer, 28_000)
  expect(await alerts()).toEqual([])
  expect(exchange.netOf('BTC')).toBeGreaterThan(0n)
  await passTime(timer, 3000)
  expect(await alerts()).toMatchObject([
    {
      cause: 'exit_failed',
      repeat: 0,
      message: expect.stringContaining('still open at the venue') as string,
    },
  ])
  await passTime(timer, 3000)
  expect(exchange.netOf('BTC')).toBe(0n)
  expect(live.engine.state.trading.book.count).toBe(0)
  expect(await alerts()).toHaveLength(1)
  await live.close()
  expect(live.errors).toEqual([])
})

it('an exit that is left open at level 3 is handed to an operator', async () => {
  const { timer, exchange, live, alerts } = await withOpenExit()
  const move = { level: 3, reason: 'test', operator: 'op', surface: 'cli' } as const
  await live.engine.execute({ kind: 'set-kill-switch', move })
  await passTime(timer, 40_000)
  expect(await alerts()).toMatchObject([
    { cause: 'exit_failed', message: expect.stringContaining('an operator has to close it') as string },
  ])
  expect(exchange.netOf('BTC')).toBeGreaterThan(0n)
  await passTime(timer, 900_000)
  expect((await alerts()).map(({ repeat }) => repeat)).toEqual([0, 1])
  await live.close()
  expect(live.errors).toEqual([])
})
