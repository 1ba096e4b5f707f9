import { afterEach, describe, expect, it } from 'vitest'
import { BYBIT } from '../../src/adapters/brokers/ccxt/bybit.fixture.ts'
import {
  BINANCE,
  openVenueFixture,
  type CcxtBrokerFixture,
  type TestVenue,
} from '../../src/adapters/brokers/ccxt/ccxt-broker.fixture.ts'
import { KRAKEN_FUTURES } from '../../src/adapters/brokers/ccxt/krakenfutures.fixture.ts'
import { OKX } from '../../src/adapters/brokers/ccxt/okx.fixture.ts'
import { MemoryLog } from '../../src/adapters/storage/memory/memory-log.ts'
import { usdNumber } from '../../src/core/shared/money.ts'
import { timestampAt } from '../../src/core/shared/time.ts'
import { accountStatusOf } from '../../src/core/trading/risk/account.ts'
import { openPositionsOf } from '../../src/core/trading/positions/book.ts'
import {
  allRecords,
  openLiveEngine,
  prepareForLive,
  type LiveEngine,
} from '../simulation/live-engine.fixture.ts'
import { chargeFunding, equityOf } from './account-routes.ts'

// The engine, the real adapter, and an account at the exchange with external deposits and withdrawals.

const MINUTE_MS = 60_000
/** Long enough for the next comparison. */
const SWEEP_MS = 35_000
const UNITS = 100_000_000n

let fixture: CcxtBrokerFixture
let log: MemoryLog
let live: LiveEngine

const open = async (venue: TestVenue): Promise<void> => {
  fixture = await openVenueFixture(venue)
  log = new MemoryLog()
  await prepareForLive(log, fixture.now())
  live = await openLiveEngine({ log, broker: fixture.broker, timer: fixture.timer })
  await live.router.start()
  await passUntil(() => live.engine.state.trading.venue.checked?.ok === true)
  await live.bars({ BTC: 60_000, ETH: 3000 })
  await live.submitIntent()
  await passUntil(() => openPositionsOf(live.engine.state.trading).some(({ holding }) => holding.isEntryDone))
}
afterEach(async () => {
  await fixture.run(live.close())
  await fixture.broker.close()
  await fixture.close()
  if (live.errors.length > 0) throw new Error(live.errors.join('\n'))
})

const pass = (ms: number): Promise<void> => fixture.run(fixture.timer.wait(ms, new AbortController().signal))

const passUntil = async (isSo: () => boolean): Promise<void> => {
  for (let step = 0; step < 400 && !isSo(); step += 1) await pass(250)
  expect(isSo()).toBe(true)
}

const move = (usd: number): void => {
  fixture.venue.world.account.wallet += BigInt(usd) * UNITS
}

const moved = async (): Promise<readonly number[]> =>
  (await allRecords(log))
    .filter(({ type }) => type === 'execution.capital_moved.v1')
    .map(({ payload }) => (JSON.parse(payload) as { amount_usd: number }).amount_usd)

const status = () => accountStatusOf(live.engine.state.trading, timestampAt(fixture.now()))
const equityThere = (): number => Number(equityOf(fixture.venue.world)) / Number(UNITS)

/** The account is compared, nothing else happens for so long, and it is compared again. */
const passQuietly = async (ms: number): Promise<void> => {
  await pass(SWEEP_MS)
  await fixture.timer.jump(ms)
  await pass(SWEEP_MS)
}

describe.each([BINANCE, BYBIT, OKX, KRAKEN_FUTURES])('the account at $id', (venue) => {
  it('has lost nothing when money is withdrawn, whatever its position has gained', async () => {
    await open(venue)
    fixture.setPrice('BTC', 61_000n * UNITS)
    await live.bars({ BTC: 61_000 })
    move(-4000)
    await passQuietly(10 * MINUTE_MS)
    expect(await moved()).toEqual([])
    await passQuietly(5 * MINUTE_MS)
    const [withdrawn, ...others] = await moved()
    expect(withdrawn).toBeCloseTo(-4000, 0)
    expect(others).toEqual([])
    await live.bars({ BTC: 61_000 })
    expect(usdNumber(status().equity)).toBeCloseTo(equityThere(), 0)
    expect(status().drawdown).toBeLessThan(0.001)
    expect(status().dayLoss).toBeLessThan(0.001)
    expect(live.engine.state.trading.killSwitch.level).toBe(0)
  }, 120_000)
})

it('funding that the venue took and lists later is no capital', async () => {
  await open(BINANCE)
  await pass(SWEEP_MS)
  // A fifth of the notional, so that it is more than what may stay unexplained.
  chargeFunding(fixture.venue.world, 'BTC', 0.2)
  await passQuietly(6 * MINUTE_MS)
  await passQuietly(20 * MINUTE_MS)
  expect((await allRecords(log)).map(({ type }) => type)).toContain('execution.funding_applied.v1')
  expect(await moved()).toEqual([])
  await live.bars({ BTC: 60_000 })
  expect(usdNumber(status().equity)).toBeCloseTo(equityThere(), 0)
}, 120_000)
