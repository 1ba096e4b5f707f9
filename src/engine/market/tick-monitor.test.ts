import { intentId as intentIdOf } from '../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testSigner } from '../../../test/signer.fixture.ts'
import { intentAt, appendEvent } from '../../../test/simulation/live-engine.fixture.ts'
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
let monitor: TickMonitor
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
  monitor = new TickMonitor({
    engine,
    onError: (what) => {
      throw new Error(what)
    },
  })
  const bars = [barAt('2026-02-20T00:29:00.000Z', 100)]
  await engine.execute({ kind: 'observe-bars', observation: { feed: 'file', bars } })
  const at = new Date(NOW_MS).toISOString()
  const intentId = await appendEvent(log, at, 'execution.trade_intent.v1', intentAt(NOW_MS, {}))
  await engine.execute({ kind: 'execute-intent', intentId: intentIdOf(intentId) })
})
afterEach(() => engine.close())

const observe = async (price: number, atMs = nowMs): Promise<void> => {
  monitor.take({ symbol: 'btc/usdt', price, atMs })
  await monitor.settled()
}
const newest = async (count: number) => log.read({ order: 'desc', limit: count })
const status = () => [...engine.state.trading.positions.values()][0]?.status

describe('a price between bars', () => {
  it('that reaches no level changes neither log nor state', async () => {
    const before = [await log.head(), stateHashOf(engine.state)]
    for (const price of [100, 99, 96, 105, 109]) await observe(price)
    expect([await log.head(), stateHashOf(engine.state)]).toEqual(before)
  })

  it('that reaches the stop closes the position, and is recorded as the trigger', async () => {
    await observe(94.5)
    expect(status()).toBe('closed')
    const closed = (await newest(10)).find(({ type }) => type === 'execution.position_closed.v1')
    expect(JSON.parse(closed?.payload ?? '')).toMatchObject({
      exit_reason: 'stop_loss',
      trigger: { kind: 'tick', price: 94.5 },
    })
  })

  it('that reaches the target closes it, too', async () => {
    await observe(111)
    expect(status()).toBe('closed')
  })

  it('that jumps counts only when a second price confirms it', async () => {
    const before = await log.head()
    await observe(1)
    expect(await log.head()).toEqual(before)
    await observe(100)
    await observe(1)
    await observe(200)
    expect(await log.head()).toEqual(before)
    expect(engine.state.trading.killSwitch.level).toBe(0)
    await observe(1, nowMs + 2000)
    await observe(1.05, nowMs + 4000)
    expect(status()).toBe('closed')
  })

  it('that contradicts a jump does so while the jump is still checked', async () => {
    const before = await log.head()
    for (const price of [1, 100]) monitor.take({ symbol: 'BTC', price, atMs: nowMs })
    // Answered after the commands before it.
    await engine.execute({ kind: 'settle-overdue' })
    await monitor.settled()
    await observe(1.05)
    expect(await log.head()).toEqual(before)
    await observe(1)
    expect(status()).toBe('closed')
  })

  it('is waited for, whatever comes after it', async () => {
    for (const price of [94.5, 100]) monitor.take({ symbol: 'BTC', price, atMs: nowMs })
    await monitor.settled()
    expect(status()).toBe('closed')
  })

  it('raises an alert under lockdown, and the next price waits', async () => {
    await engine.execute({
      kind: 'set-kill-switch',
      move: { level: 3, reason: 'test', operator: 'op', surface: 'api' },
    })
    await observe(94)
    const [alert] = await newest(1)
    expect(alert?.type).toBe('alert.stop_triggered')
    const head = await log.head()
    for (let count = 0; count < 5; count += 1) await observe(93)
    expect(await log.head()).toEqual(head)
    expect(status()).not.toBe('closed')
  })
})
