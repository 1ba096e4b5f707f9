import { intentId as intentIdOf, positionId, orderId } from '../../core/shared/brand.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
  type LiveEngineDependencies,
} from '../../../test/simulation/live-engine.fixture.ts'
import { MemoryLog } from '../../adapters/storage/memory/memory-log.ts'
import { openPositionsOf } from '../../core/trading/positions/book.ts'
import { createManualTimer, passTime, settle, type ManualTimer } from '../../ports/manual-timer.fixture.ts'

const BEGIN_MS = Date.parse('2026-02-20T00:30:00.000Z')

let timer: ManualTimer
let exchange: MemoryExchange
let log: MemoryLog
let floor: LiveEngine

const open = async (dependencies: Partial<LiveEngineDependencies> = {}): Promise<LiveEngine> => {
  floor = await openLiveEngine({ log, broker: exchange, timer, ...dependencies })
  await floor.router.start()
  await settle()
  return floor
}
const pass = (ms: number): Promise<void> => passTime(timer, ms)
const statusOf = (intentId: string) => floor.engine.state.trading.intents.get(intentIdOf(intentId))?.status
const orders = () => [
  ...floor.engine.state.trading.orders.open.values(),
  ...floor.engine.state.trading.orders.ended.values(),
]
const lastOrder = () =>
  orders()
    .toSorted((one, other) => (one.submittedAt < other.submittedAt ? -1 : 1))
    .at(-1)
const types = async () => (await allRecords(log)).map(({ type }) => type)
const held = () => openPositionsOf(floor.engine.state.trading)
const setLevel = (level: 2 | 3) =>
  floor.engine.execute({
    kind: 'set-kill-switch',
    move: { level, reason: 'test', operator: 'op', surface: 'cli' },
  })

beforeEach(async () => {
  timer = createManualTimer(BEGIN_MS)
  exchange = createMemoryExchange(() => timer.now())
  log = new MemoryLog()
  await prepareForLive(log, BEGIN_MS)
  await open()
  await floor.bars({ BTC: 100, ETH: 100 })
})
afterEach(async () => {
  await floor.close()
  if (floor.errors.length > 0) throw new Error(floor.errors.join('\n'))
})

describe('an order desk', () => {
  it('sends what is stored, and records what the venue says', async () => {
    const intent = await floor.submitIntent()
    await settle()
    expect(statusOf(intent)).toBe('filled')
    expect(held()).toHaveLength(1)
    expect(exchange.arrivals).toHaveLength(1)
    await floor.bars({ BTC: 100 })
    await pass(60_000)
    await floor.bars({ BTC: 94 })
    await settle()
    expect(held()).toEqual([])
    expect(exchange.netOf('BTC')).toBe(0n)
    expect(exchange.arrivals).toHaveLength(2)
  })

  it('takes fills in parts, repeated and out of order, each once', async () => {
    exchange.treat('fill-in-parts')
    await floor.submitIntent()
    await settle()
    expect(lastOrder()).toMatchObject({ status: 'filled', fills: 3 })
    expect(held()[0]?.holding.quantity).toBe(exchange.netOf('BTC'))
  })

  it('waits for the trades of an order that is reported as filled', async () => {
    exchange.treat('trades-later')
    const intent = await floor.submitIntent()
    await settle()
    expect(statusOf(intent)).toBe('executing')
    await pass(12_000)
    expect(statusOf(intent)).toBe('filled')
  })

  it('keeps the filled part of an entry, and no position where nothing was filled', async () => {
    exchange.treat('fill-some', 'fill-nothing')
    const some = await floor.submitIntent()
    await settle()
    expect(statusOf(some)).toBe('filled')
    const none = await floor.submitIntent({ symbol: 'ETH' })
    await settle()
    expect(statusOf(none)).toBe('rejected')
    expect(held()).toHaveLength(1)
  })

  it.each(['fill-unclear', 'fill-hang', 'fill-throw'] as const)(
    'looks an order up whose answer is lost (%s), and sends it only once',
    async (treatment) => {
      exchange.treat(treatment)
      const intent = await floor.submitIntent()
      await settle()
      await pass(12_000)
      expect(statusOf(intent)).toBe('filled')
      expect(exchange.arrivals).toHaveLength(1)
      expect(await types()).toContain('execution.order_unknown.v1')
    },
  )

  it.each(['lose', 'lose-hang'] as const)(
    'sends an order again under the same id only after the venue did not have it for long enough (%s)',
    async (treatment) => {
      exchange.treat(treatment)
      const intent = await floor.submitIntent()
      await settle()
      await pass(29_000)
      expect(exchange.arrivals).toEqual([])
      await pass(15_000)
      expect(exchange.arrivals).toHaveLength(1)
      expect(statusOf(intent)).toBe('filled')
    },
  )

  it('repeats a lookup that fails', async () => {
    exchange.treat('fill-unclear')
    exchange.failLookups('unclear', 'throw', 'hang')
    const intent = await floor.submitIntent()
    await pass(20_000)
    expect(statusOf(intent)).toBe('filled')
    expect(exchange.arrivals).toHaveLength(1)
  })

  it('sends no entry anywhere, and nothing in the symbol, while an order is unknown', async () => {
    await floor.submitIntent({ symbol: 'ETH' })
    await settle()
    exchange.treat('lose')
    await floor.submitIntent()
    await settle()
    const other = await floor.submitIntent({ symbol: 'ETH', direction: 'short' })
    expect(statusOf(other)).toBe('rejected')
    const by = { operator: 'op', surface: 'cli' } as const
    const [eth] = held()
    await floor.engine.execute({ kind: 'close-position', positionId: positionId(eth?.id ?? ''), by })
    await settle()
    // Exits in other symbols are not blocked.
    expect(exchange.netOf('ETH')).toBe(0n)
    expect(exchange.arrivals).toHaveLength(2)
  })

  it('leaves an order that cannot be looked up to an operator', async () => {
    exchange.treat('lose')
    exchange.failLookups(...Array.from({ length: 20 }, () => 'unsupported' as const))
    const intent = await floor.submitIntent()
    await pass(60_000)
    expect(lastOrder()).toMatchObject({ status: 'unknown', needsOperator: true })
    expect(await types()).toContain('alert.execution')
    const request = {
      orderId: orderId(lastOrder()?.id ?? ''),
      operator: 'op',
      reason: null,
      surface: 'cli',
    } as const
    await floor.engine.execute({ kind: 'cancel-order', request })
    expect(statusOf(intent)).toBe('rejected')
  })

  it('records a rejection, and retries an exit that was rejected', async () => {
    exchange.treat('refuse', 'fill', 'refuse', 'fill')
    const refused = await floor.submitIntent()
    await settle()
    expect(statusOf(refused)).toBe('rejected')
    await floor.submitIntent()
    await pass(60_000)
    await floor.bars({ BTC: 94 })
    await settle()
    expect(held()[0]?.status).toBe('closing')
    await pass(3000)
    expect(held()).toEqual([])
    expect(exchange.netOf('BTC')).toBe(0n)
  })

  it('sweeps what rests, and tries the rest of an exit again', async () => {
    await floor.submitIntent()
    await pass(60_000)
    exchange.treat('fill-some')
    await floor.bars({ BTC: 94 })
    await settle()
    expect(lastOrder()).toMatchObject({ status: 'partial' })
    exchange.fillResting()
    await pass(6000)
    expect(held()).toEqual([])
  })

  it('cancels at the venue what the kill switch or an operator wants canceled', async () => {
    await floor.submitIntent()
    await pass(60_000)
    exchange.treat('fill-some')
    await floor.bars({ BTC: 94 })
    await settle()
    const request = {
      orderId: orderId(lastOrder()?.id ?? ''),
      operator: 'op',
      reason: 'too slow',
      surface: 'cli',
    } as const
    await floor.engine.execute({ kind: 'cancel-order', request })
    await settle()
    expect(exchange.orders.get(request.orderId.replaceAll('-', ''))?.status).toBe('canceled')
    await pass(3000)
    expect(held()).toEqual([])
    expect(exchange.netOf('BTC')).toBe(0n)
  })
})

describe('after a restart', () => {
  const restart = async (): Promise<void> => {
    floor.drop()
    await open()
  }

  it('every order under way is looked up before anything is sent', async () => {
    exchange.treat('fill-hang')
    const intent = await floor.submitIntent()
    await settle()
    await restart()
    expect(await types()).toContain('execution.order_unknown.v1')
    await pass(1000)
    expect(statusOf(intent)).toBe('filled')
    expect(exchange.arrivals).toHaveLength(1)
  })

  it('an order that was stored and never sent is sent once', async () => {
    await floor.router.close()
    const intent = await floor.submitIntent()
    // Rejected, because no process can send the order.
    expect(statusOf(intent)).toBe('rejected')
    await open()
    await pass(1000)
    await floor.bars({ BTC: 100 })
    exchange.treat('lose-hang')
    const second = await floor.submitIntent()
    await settle()
    await restart()
    await pass(40_000)
    expect(statusOf(second)).toBe('filled')
    expect(exchange.arrivals).toHaveLength(1)
  })

  it('an expired order is given up, and its intent ends', async () => {
    exchange.treat('lose-hang')
    const intent = await floor.submitIntent()
    await settle()
    floor.drop()
    await timer.advance(400_000)
    await open()
    await pass(40_000)
    expect(statusOf(intent)).toBe('rejected')
    expect(exchange.arrivals).toEqual([])
  })

  it('the kill switch keeps its level, and holds back what it forbids', async () => {
    exchange.treat('lose-hang')
    const intent = await floor.submitIntent()
    await settle()
    await setLevel(2)
    await restart()
    await pass(40_000)
    expect(floor.engine.state.trading.killSwitch.level).toBe(2)
    expect(statusOf(intent)).toBe('rejected')
    expect(exchange.arrivals).toEqual([])
  })

  it('at level 3 no exit goes by itself', async () => {
    await floor.submitIntent()
    await pass(60_000)
    exchange.treat('lose-hang')
    await floor.bars({ BTC: 94 })
    await settle()
    await setLevel(3)
    await restart()
    await pass(60_000)
    expect(exchange.netOf('BTC')).not.toBe(0n)
    expect(exchange.arrivals).toHaveLength(1)
    const [position] = held()
    const by = { operator: 'op', surface: 'cli' } as const
    await floor.engine.execute({ kind: 'close-position', positionId: positionId(position?.id ?? ''), by })
    await settle()
    expect(exchange.netOf('BTC')).toBe(0n)
  })

  it('adopts unknown positions, and opens nothing until an operator resumes', async () => {
    exchange.tradeByHand('ETH', -2)
    await restart()
    await pass(4000)
    expect(held()[0]).toMatchObject({
      terms: { origin: { kind: 'adopted' }, direction: 'short', asset: 'ETH', platform: VENUE },
    })
    const intent = await floor.submitIntent()
    expect(statusOf(intent)).toBe('rejected')
    const by = { operator: 'op', surface: 'cli' } as const
    await floor.engine.execute({
      kind: 'close-position',
      positionId: positionId(held()[0]?.id ?? ''),
      by,
    })
    await settle()
    expect(exchange.netOf('ETH')).toBe(0n)
    await floor.engine.execute({ kind: 'resume-live', operator: 'op', reason: 'was mine', surface: 'cli' })
    await floor.bars({ BTC: 100 })
    const later = await floor.submitIntent()
    await settle()
    expect(statusOf(later)).toBe('filled')
  })

  it('checks the venue again when a process that led before it says its last word late', async () => {
    await restart()
    await pass(4000)
    expect(floor.engine.state.trading.venue.checked?.ok).toBe(true)
    const checks = [{ name: 'reachable', ok: false, detail: 'the service stopped' }]
    await floor.engine.execute({
      kind: 'record-venue-check',
      check: { venue: VENUE, checks, symbols: [] },
    })
    expect(floor.engine.state.trading.venue.checked?.ok).toBe(false)
    await pass(35_000)
    expect(floor.engine.state.trading.venue.checked?.ok).toBe(true)
  })

  it('tells once of what is missing', async () => {
    await floor.submitIntent()
    await settle()
    const [position] = held()
    exchange.tradeByHand('BTC', -Number(position?.holding.quantity ?? 0n) / 1e8)
    await pass(120_000)
    expect((await types()).filter((type) => type === 'execution.venue_differs.v1')).toHaveLength(1)
    expect(floor.engine.state.trading.venue.reduceOnly).not.toBeNull()
  })
})
