import { afterEach, describe, expect, it } from 'vitest'
import {
  BINANCE,
  openVenueFixture,
  type CcxtBrokerFixture,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { usdNumber } from '../../src/core/shared/money.ts'
import { equityOf } from '../../src/core/trading/risk/account.ts'
import { seeded } from '../../src/backtest/seeded.fixture.ts'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../simulation/live-engine.fixture.ts'
import { chargeFunding, equityOf as equityAt } from './account-routes.ts'
import { BINANCE_WIRE } from './requests.ts'

// The engine, the real adapter, and a venue whose responses hold values that no honest venue sends.

type Lie = (path: string, member: string, value: unknown) => unknown

let fixture: CcxtBrokerFixture
let log: MemoryLog
let live: LiveEngine
let lie: Lie | null = null
let lies: string[] = []

const open = async (): Promise<void> => {
  lie = null
  lies = []
  fixture = await openVenueFixture({
    ...BINANCE,
    wire: {
      ...BINANCE_WIRE,
      respond: (world, request, fault) => {
        const response = BINANCE_WIRE.respond(world, request, fault)
        return { ...response, body: falsified(request.path, response.body) }
      },
    },
  })
  log = new MemoryLog()
  await prepareForLive(log, fixture.now())
  live = await openLiveEngine({ log, broker: fixture.broker, timer: fixture.timer })
  await live.router.start()
  await passUntil(() => live.engine.state.trading.venue.checked?.ok === true)
  await live.bars({ BTC: 60_000, ETH: 3000 })
}

const falsified = (path: string, body: unknown): unknown => {
  if (lie === null || typeof body !== 'object' || body === null) return body
  const text = JSON.stringify(body, (member, value: unknown) => {
    if (typeof value === 'object') return value
    const changed = lie?.(path, member, value)
    if (changed === undefined) return value
    lies.push(`${path} ${member}`)
    return changed
  })
  return JSON.parse(text)
}

afterEach(async () => {
  await fixture.run(live.close())
  await fixture.broker.close()
  await fixture.close()
})

const pass = (ms: number): Promise<void> => fixture.run(fixture.timer.wait(ms, new AbortController().signal))

const passUntil = async (isSo: () => boolean): Promise<void> => {
  for (let step = 0; step < 100 && !isSo(); step += 1) await pass(2000)
  expect(isSo()).toBe(true)
}

const positions = () => openPositionsOf(live.engine.state.trading)
const isEntered = () => positions().some(({ holding }) => holding.isEntryDone)

const close = async (): Promise<void> => {
  await live.engine.execute({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
  await passUntil(() => positions().length === 0)
}

const nowText = (): string => new Date(fixture.now()).toISOString()
const oursUsd = (): number => usdNumber(equityOf(live.engine.state.trading))

const TIMES: ReadonlySet<string> = new Set(['time', 'updateTime', 'transactTime', 'timestamp'])

/** Values for times and numbers that no honest venue sends. */
const HOSTILE = [9e15, 1e300, 4e14, -5, 0, 'soon', 'NaN', 'Infinity', '-1', '1e60', '1e-60', '', null, true]

describe('a venue that lies', () => {
  it.each([9e15, 4e14, null])(
    'about the times of trades (%s) has its fills recorded',
    async (value) => {
      await open()
      lie = (path, member) => (path.includes('userTrades') && TIMES.has(member) ? value : undefined)
      await live.submitIntent()
      await passUntil(isEntered)
      for (const { terms } of positions()) expect(terms.openedAt <= nowText()).toBe(true)
      await close()
      expect(lies.length).toBeGreaterThan(0)
      expect(live.errors).toEqual([])
    },
    60_000,
  )

  it.each([1e300, 2e12])(
    'about the time of a payment (%s) keeps no other payment back, nor the comparison of the account',
    async (value) => {
      await open()
      await live.submitIntent()
      await passUntil(isEntered)
      lie = (path, member) => (path.includes('income') && TIMES.has(member) ? value : undefined)
      chargeFunding(fixture.venue.world, 'BTC', 0.0001)
      await pass(60_000)
      expect(lies.length).toBeGreaterThan(0)
      lie = null
      chargeFunding(fixture.venue.world, 'BTC', 0.0002)
      await pass(330_000)
      expect(live.errors).toEqual([])
      const paid = [...(await allRecords(log))].filter(({ type }) => type === 'execution.funding_applied.v1')
      expect(paid).toHaveLength(2)
    },
    60_000,
  )

  it.each(['1e60', '-9e15'])(
    'about a fee (%s) has the usual fee recorded',
    async (value) => {
      await open()
      lie = (path, member) => (path.includes('userTrades') && member === 'commission' ? value : undefined)
      await live.submitIntent()
      await passUntil(isEntered)
      await close()
      expect(lies.length).toBeGreaterThan(0)
      expect(live.errors).toEqual([])
      expect(oursUsd()).toBeCloseTo(Number(equityAt(fixture.venue.world)) / 1e8, 0)
    },
    60_000,
  )

  it.each([1, 2, 3])(
    'about anything (seed %i) stops nothing: once it is honest, positions have ended and both agree',
    async (seed) => {
      await open()
      const random = seeded(seed)
      lie = (path, _member, value) => {
        if (typeof value === 'boolean' || path.includes('exchangeInfo') || random() > 0.03) return undefined
        return HOSTILE[Math.floor(random() * HOSTILE.length)]
      }
      await live.submitIntent()
      await pass(60_000)
      await live.bars({ BTC: 60_000, ETH: 3000 })
      await live.engine.execute({ kind: 'close-all', by: { operator: 'op', surface: 'cli' } })
      await pass(60_000)
      lie = null
      await pass(90_000)
      expect(lies.length).toBeGreaterThan(0)
      expect(live.errors).toEqual([])
      expect(positions()).toEqual([])
      expect(live.engine.state.trading.orders.open.size).toBe(0)
      expect(
        [...fixture.venue.world.account.holdings.values()].filter(({ quantity }) => quantity !== 0n),
      ).toEqual([])
      expect(oursUsd()).toBeCloseTo(Number(equityAt(fixture.venue.world)) / 1e8, 2)
    },
    120_000,
  )
})
