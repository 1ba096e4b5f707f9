import { afterEach, describe, expect, it } from 'vitest'
import { priceAt } from '../../../../test/exchange-server/exchange-state.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { marketFeedContract } from '../../../ports/market-feed.contract.ts'
import type { CcxtFeedDependencies } from './ccxt-feed.ts'
import { MINUTE_MS, openCcxtFeedFixture, pause, START_MS, type CcxtFeedFixture } from './ccxt-feed.fixture.ts'

marketFeedContract('the ccxt feed', async () => {
  const { feed, timer, venue } = await openCcxtFeedFixture({ warmupHours: 1 })
  return {
    feed,
    nowMs: () => timer.now(),
    pass: async () => {
      await timer.advance(2000)
      await pause(venue)
    },
    close: () => venue.close(),
  }
})

const fixtures: CcxtFeedFixture[] = []
const openFixture = async (changes: Partial<CcxtFeedDependencies> = {}): Promise<CcxtFeedFixture> => {
  const fixture = await openCcxtFeedFixture(changes)
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close()
})

const LAST_MINUTE_MS = Math.floor(START_MS / MINUTE_MS) * MINUTE_MS
const openTimes = (bars: readonly FeedBar[]) => bars.map(({ open_ts }) => open_ts.slice(11, 16))
const barThatCloses = (closeMs: number): FeedBar => ({
  symbol: 'BTC',
  resolution_s: 60,
  open_ts: new Date(closeMs - MINUTE_MS).toISOString(),
  close_ts: new Date(closeMs).toISOString(),
  open: 1,
  high: 1,
  low: 1,
  close: 1,
  volume: 0,
  quote_volume: 0,
  funding_annualized: null,
  basis_annualized: null,
  open_interest_usd: null,
  bid_depth_usd: null,
  ask_depth_usd: null,
  fear_greed: null,
  backfill: false,
})

describe('bars', () => {
  it('come when they have closed, with their side values', async () => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['BTC', 'SOL'] })
    expect(fixture.calls).toEqual([])
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    const [btc, sol] = fixture.bars()
    const price = priceAt('BTC', LAST_MINUTE_MS + MINUTE_MS)
    expect(btc).toMatchObject({
      symbol: 'BTC',
      open_ts: '2026-02-20T12:34:00.000Z',
      close_ts: '2026-02-20T12:35:00.000Z',
      close: Number(price.toFixed(4)),
      volume: 12.5,
      funding_annualized: 10.95,
      fear_greed: null,
      backfill: false,
    })
    expect(btc?.basis_annualized).toBeCloseTo(10.95, 3)
    // Requested a second or so later, when the price is a little different.
    expect(btc?.bid_depth_usd).toBeCloseTo(price * (0.999 * 2 + 0.998), -4)
    expect(btc?.ask_depth_usd).toBeCloseTo(price * (1.001 + 1.002), -4)
    expect(btc?.open_interest_usd).toBeCloseTo(price * 1.0001 * 1000.5, -6)
    expect(btc?.quote_volume).toBeGreaterThan(12.5 * (btc?.low ?? 0))
    expect(btc?.quote_volume).toBeLessThan(12.5 * (btc?.high ?? 0))
    // Has no perpetual there.
    expect(sol).toMatchObject({ symbol: 'SOL', funding_annualized: null, basis_annualized: null })
    expect(sol).toMatchObject({ open_interest_usd: null, bid_depth_usd: expect.any(Number), backfill: false })
    expect(fixture.errors).toEqual([])
  })

  it('have the mean of the basis since the start, not that of a moment', async () => {
    const fixture = await openFixture()
    await fixture.start()
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    fixture.venue.world.premium = 0.0003
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 2)
    const basis = fixture.bars().map(({ basis_annualized }) => basis_annualized)
    expect(basis[0]).toBeCloseTo(10.95, 3)
    expect(basis[1]).toBeCloseTo((10.95 + 32.85) / 2, 3)
  })

  it('come from the perpetual where there is no spot market', async () => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['HYPE'] })
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    expect(fixture.bars()[0]).toMatchObject({ symbol: 'HYPE', funding_annualized: 10.95, backfill: false })
    expect(fixture.venue.requests.some((request) => request.includes('fapi/v1/klines?'))).toBe(true)
  })

  it('know the funding interval', async () => {
    const fixture = await openFixture()
    fixture.venue.world.fundingIntervalHours = 4
    await fixture.start()
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    expect(fixture.bars()[0]?.funding_annualized).toBe(21.9)
  })

  it('of a first start have a history in quarters of an hour, then in minutes', async () => {
    const fixture = await openFixture({ warmupHours: 2 })
    await fixture.start()
    const delivered = fixture.bars().map(({ resolution_s, backfill }) => `${resolution_s} ${backfill}`)
    expect(delivered).toEqual([
      ...Array.from({ length: 8 }, () => '900 true'),
      ...Array.from({ length: 4 }, () => '60 true'),
    ])
    expect(openTimes(fixture.bars()).at(0)).toBe('10:30')
    expect(openTimes(fixture.bars()).at(-1)).toBe('12:33')
  })

  it('have a history also when no minute has closed after its last quarter', async () => {
    const fixture = await openFixture({ warmupHours: 1 })
    await fixture.timer.jump(Date.parse('2026-02-20T12:45:10Z') - START_MS)
    await fixture.start()
    expect(openTimes(fixture.bars())).toEqual(['11:45', '12:00', '12:15', '12:30'])
  })

  it('have a history later when the exchange fails at the start', async () => {
    const fixture = await openFixture({ warmupHours: 1 })
    fixture.venue.faults.add(/klines$/, { kind: 'drop' }, 1)
    await fixture.start()
    expect(fixture.feed.status().state).toBe('failing')
    await fixture.until(() => fixture.calls.length === 8, 100)
    expect(openTimes(fixture.bars()).slice(0, 5)).toEqual(['11:30', '11:45', '12:00', '12:15', '12:30'])
    expect(fixture.feed.status().state).toBe('running')
  })

  it('that were missed come first, as backfill, oldest first', async () => {
    const fixture = await openFixture()
    await fixture.start({ lastBars: new Map([['BTC', barThatCloses(LAST_MINUTE_MS - 3 * MINUTE_MS)]]) })
    expect(openTimes(fixture.bars())).toEqual(['12:31', '12:32', '12:33'])
    expect(fixture.bars().every(({ backfill }) => backfill)).toBe(true)
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 4)
    expect(fixture.bars()[3]?.backfill).toBe(false)
  })

  it('are fetched in pages, and not without end', async () => {
    const fixture = await openFixture()
    const lastCloseMs = LAST_MINUTE_MS - 5000 * MINUTE_MS
    await fixture.start({ lastBars: new Map([['btc', barThatCloses(lastCloseMs)]]) })
    expect(fixture.calls).toHaveLength(4320)
    expect(fixture.errors).toEqual([expect.stringContaining('680 bars from 2026-02-17T01:14:00.000Z')])
    expect(fixture.venue.requests.filter((request) => request.includes('/klines?'))).toHaveLength(5)
  })
})

describe('ticks', () => {
  it('come from a socket', async () => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['BTC', 'ETH', 'HYPE'] })
    await fixture.until(() => fixture.venue.streams.names().length === 3, 0)
    expect(fixture.venue.streams.count()).toBe(2)
    await fixture.until(() => {
      fixture.venue.streams.tick()
      return new Set(fixture.ticks.map(({ symbol }) => symbol)).size === 3
    }, 1)
    for (const { symbol, price, atMs } of fixture.ticks) {
      expect(price).toBe(Number(priceAt(symbol, atMs).toFixed(4)))
    }
    expect(new Set(fixture.ticks.map(({ symbol, atMs }) => `${symbol} ${atMs}`)).size).toBe(
      fixture.ticks.length,
    )
    expect(fixture.venue.requests.filter((request) => request.includes('/ticker/'))).toEqual([])
    await fixture.feed.stop()
    await fixture.until(() => fixture.venue.streams.count() === 0, 0)
  })
})

describe('a start', () => {
  it('rejects for an unknown exchange', async () => {
    const fixture = await openFixture({ exchange: 'constructor' })
    await expect(fixture.start()).rejects.toThrow('constructor is not an exchange')
  })

  it('rejects for a bar length that the exchange does not have', async () => {
    const fixture = await openFixture({ barSeconds: 61 })
    await expect(fixture.start()).rejects.toThrow('no bars of 61 seconds')
  })

  it('reports once which symbols the exchange does not have', async () => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['BTC', 'NOPE', 'DOGE'] })
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 2)
    expect(fixture.errors).toEqual([
      'binance has no dollar market for NOPE, DOGE: these symbols get no prices',
    ])
    expect(fixture.feed.status()).toMatchObject({ state: 'running', error: null })
  })
})
