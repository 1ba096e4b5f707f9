import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/parts.ts'
import { intentAt, tell } from '../../../test/simulation/trading-floor.ts'
import { createSystemClock } from '../../adapters/platform/clock/system-clock.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { barAt } from '../../core/market/bars.fixture.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Engine } from '../engine.ts'
import { stateHashOf } from '../memory.ts'
import { TickMonitor } from './tick-monitor.ts'

const NOW_MS = Date.parse('2026-02-20T00:30:00.000Z')

let log: EventLog
let engine: Engine
let desk: TickMonitor
let nowMs: number

beforeEach(async () => {
  nowMs = NOW_MS
  log = new MemoryLog()
  engine = await Engine.open({
    log,
    signer: testSigner(),
    clock: createSystemClock(() => nowMs),
    snapshotEveryEvents: 1000,
    onError: (what) => {
      throw new Error(what)
    },
  })
  desk = new TickMonitor({
    engine,
    onError: (what) => {
      throw new Error(what)
    },
  })
  const bars = [barAt('2026-02-20T00:29:00.000Z', 100)]
  await engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
  const at = new Date(NOW_MS).toISOString()
  const intentId = await tell(log, at, 'execution.trade_intent.v1', intentAt(NOW_MS, {}))
  await engine.execute({ kind: 'execute-intent', intentId })
})
afterEach(() => engine.close())

const told = async (price: number, atMs = nowMs): Promise<void> => {
  desk.take({ symbol: 'btc/usdt', price, atMs })
  await desk.settled()
}
const newest = async (count: number) => log.read({ order: 'desc', limit: count })
const status = () => [...engine.state.trading.positions.values()][0]?.status

describe('a price between bars', () => {
  it('that reaches nothing leaves log and state as they were', async () => {
    const before = [await log.head(), stateHashOf(engine.state)]
    for (const price of [100, 99, 96, 105, 109]) await told(price)
    expect([await log.head(), stateHashOf(engine.state)]).toEqual(before)
  })

  it('that reaches the stop closes the position in the same batch, and stands in it', async () => {
    await told(94.5)
    expect(status()).toBe('closed')
    const closed = (await newest(10)).find(({ type }) => type === 'execution.position_closed.v1')
    expect(JSON.parse(closed?.payload ?? '')).toMatchObject({
      exit_reason: 'stop_loss',
      trigger: { kind: 'tick', price: 94.5 },
    })
  })

  it('that reaches the target closes it, too', async () => {
    await told(111)
    expect(status()).toBe('closed')
  })

  it('that is absurd is believed only when a second one says the same', async () => {
    const before = await log.head()
    await told(1)
    expect(await log.head()).toEqual(before)
    await told(100)
    await told(1)
    await told(200)
    expect(await log.head()).toEqual(before)
    expect(engine.state.trading.killSwitch.level).toBe(0)
    await told(1, nowMs + 2000)
    await told(1.05, nowMs + 4000)
    expect(status()).toBe('closed')
  })

  it('that contradicts an absurd one does so while that one is still looked at', async () => {
    const before = await log.head()
    for (const price of [1, 100]) desk.take({ symbol: 'BTC', price, atMs: nowMs })
    // Answered after what was asked before it.
    await engine.execute({ kind: 'settle-overdue' })
    await desk.settled()
    await told(1.05)
    expect(await log.head()).toEqual(before)
    await told(1)
    expect(status()).toBe('closed')
  })

  it('is waited for, whatever came after it', async () => {
    for (const price of [94.5, 100]) desk.take({ symbol: 'BTC', price, atMs: nowMs })
    await desk.settled()
    expect(status()).toBe('closed')
  })

  it('gives an alert under lockdown, and does not ask again at once', async () => {
    await engine.execute({
      kind: 'set-kill-switch',
      move: { level: 3, reason: 'test', operator: 'op', surface: 'api' },
    })
    await told(94)
    const [alert] = await newest(1)
    expect(alert?.type).toBe('alert.stop_triggered')
    const head = await log.head()
    for (let count = 0; count < 5; count += 1) await told(93)
    expect(await log.head()).toEqual(head)
    expect(status()).not.toBe('closed')
  })
})
