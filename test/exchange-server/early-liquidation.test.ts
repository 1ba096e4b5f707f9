import { afterEach, describe, expect, it } from 'vitest'
import {
  BINANCE,
  openVenueFixture,
  type CcxtBrokerFixture,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { usdNumber } from '../../src/core/shared/money.ts'
import { equityOf } from '../../src/core/trading/risk/account.ts'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../simulation/live-engine.fixture.ts'
import { equityOf as equityAt } from './account-routes.ts'
import { liquidate } from './matching.ts'

// The engine, the real adapter, and a venue that ends a position before the account was ever read with it.

const UNITS = 100_000_000n

let fixture: CcxtBrokerFixture
let log: MemoryLog
let live: LiveEngine

const open = async (): Promise<void> => {
  fixture = await openVenueFixture(BINANCE)
  log = new MemoryLog()
  await prepareForLive(log, fixture.now())
  live = await openLiveEngine({
    log,
    broker: fixture.broker,
    timer: fixture.timer,
    // A liquidation that comes before the stop, as in a gap.
    execution: { venue_stops: false },
    killSwitch: DAILY_LOSS,
  })
  await live.router.start()
  await passUntil(() => live.engine.state.trading.venue.checked?.ok === true)
  await live.bars({ BTC: 60_000, ETH: 3000 })
  await live.submitIntent()
  await passUntil(() => openPositionsOf(live.engine.state.trading).some(({ holding }) => holding.isEntryDone))
}

/** A hundredth of equity: less than the position loses here. */
const DAILY_LOSS = { l1_daily_loss_pct: 0.01 }

afterEach(async () => {
  await fixture.run(live.close())
  await fixture.broker.close()
  await fixture.close()
  if (live.errors.length > 0) throw new Error(live.errors.join('\n'))
})

const pass = (ms: number): Promise<void> => fixture.run(fixture.timer.wait(ms, new AbortController().signal))

const passUntil = async (isSo: () => boolean): Promise<void> => {
  for (let step = 0; step < 100 && !isSo(); step += 1) await pass(2000)
  expect(isSo()).toBe(true)
}

const typesInLog = async (): Promise<readonly string[]> => (await allRecords(log)).map(({ type }) => type)
const level = (): number => live.engine.state.trading.killSwitch.level
const ours = (): number => usdNumber(equityOf(live.engine.state.trading))
const theirs = (): number => Number(equityAt(fixture.venue.world)) / Number(UNITS)

describe('a position', () => {
  it('that is liquidated before the account is read is a loss, and raises the kill switch', async () => {
    await open()
    fixture.setPrice('BTC', 20_000n * UNITS)
    liquidate(fixture.venue.world, 'BTC')
    await passUntil(() => openPositionsOf(live.engine.state.trading).length === 0)
    expect([...live.engine.state.trading.positions.values()].at(-1)?.status).toBe('liquidated')
    expect(ours()).toBeCloseTo(theirs(), 2)
    expect(level()).toBe(1)
    expect(await typesInLog()).not.toContain('execution.venue_differs.v1')
  }, 60_000)
})
