import { afterEach, describe, expect, it } from 'vitest'
import { priceAt } from '../../../../test/venue/world.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { marketFeedContract } from '../../../ports/market-feed.contract.ts'
import type { CcxtFeedDependencies } from './ccxt-feed.ts'
import { MINUTE_MS, openCcxtStage, pause, START_MS, type CcxtStage } from './ccxt-feed.fixture.ts'

marketFeedContract('the ccxt feed', async () => {
  const { feed, timer, venue } = await openCcxtStage({ warmupHours: 1 })
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

const stages: CcxtStage[] = []
const stageOf = async (changes: Partial<CcxtFeedDependencies> = {}): Promise<CcxtStage> => {
  const stage = await openCcxtStage(changes)
  stages.push(stage)
  return stage
}
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close()
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
  it('come when they have closed, with what stands beside the price', async () => {
    const stage = await stageOf()
    await stage.start({ symbols: ['BTC', 'SOL'] })
    expect(stage.calls).toEqual([])
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    const [btc, sol] = stage.bars()
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
    // Asked a second or so later, when the price is a little different.
    expect(btc?.bid_depth_usd).toBeCloseTo(price * (0.999 * 2 + 0.998), -4)
    expect(btc?.ask_depth_usd).toBeCloseTo(price * (1.001 + 1.002), -4)
    expect(btc?.open_interest_usd).toBeCloseTo(price * 1.0001 * 1000.5, -6)
    expect(btc?.quote_volume).toBeGreaterThan(12.5 * (btc?.low ?? 0))
    expect(btc?.quote_volume).toBeLessThan(12.5 * (btc?.high ?? 0))
    // Has no perpetual there.
    expect(sol).toMatchObject({ symbol: 'SOL', funding_annualized: null, basis_annualized: null })
    expect(sol).toMatchObject({ open_interest_usd: null, bid_depth_usd: expect.any(Number), backfill: false })
    expect(stage.troubles).toEqual([])
  })

  it('show the mean of the basis since the feed watches, not that of a moment', async () => {
    const stage = await stageOf()
    await stage.start()
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    stage.venue.world.premium = 0.0003
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 2)
    const basis = stage.bars().map(({ basis_annualized }) => basis_annualized)
    expect(basis[0]).toBeCloseTo(10.95, 3)
    expect(basis[1]).toBeCloseTo((10.95 + 32.85) / 2, 3)
  })

  it('come from the perpetual where there is no spot market', async () => {
    const stage = await stageOf()
    await stage.start({ symbols: ['HYPE'] })
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    expect(stage.bars()[0]).toMatchObject({ symbol: 'HYPE', funding_annualized: 10.95, backfill: false })
    expect(stage.venue.requests.some((request) => request.includes('fapi/v1/klines?'))).toBe(true)
  })

  it('know how often funding is paid', async () => {
    const stage = await stageOf()
    stage.venue.world.fundingIntervalHours = 4
    await stage.start()
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    expect(stage.bars()[0]?.funding_annualized).toBe(21.9)
  })

  it('of a first start tell the past in quarters of an hour, then in minutes', async () => {
    const stage = await stageOf({ warmupHours: 2 })
    await stage.start()
    const told = stage.bars().map(({ resolution_s, backfill }) => `${resolution_s} ${backfill}`)
    expect(told).toEqual([
      ...Array.from({ length: 8 }, () => '900 true'),
      ...Array.from({ length: 4 }, () => '60 true'),
    ])
    expect(openTimes(stage.bars()).at(0)).toBe('10:30')
    expect(openTimes(stage.bars()).at(-1)).toBe('12:33')
  })

  it('tell the past also when no minute has closed behind its last quarter', async () => {
    const stage = await stageOf({ warmupHours: 1 })
    await stage.timer.jump(Date.parse('2026-02-20T12:45:10Z') - START_MS)
    await stage.start()
    expect(openTimes(stage.bars())).toEqual(['11:45', '12:00', '12:15', '12:30'])
  })

  it('tell the past later when the venue does not tell it at the start', async () => {
    const stage = await stageOf({ warmupHours: 1 })
    stage.venue.faults.add(/klines$/, { kind: 'drop' }, 1)
    await stage.start()
    expect(stage.feed.status().state).toBe('troubled')
    await stage.until(() => stage.calls.length === 8, 100)
    expect(openTimes(stage.bars()).slice(0, 5)).toEqual(['11:30', '11:45', '12:00', '12:15', '12:30'])
    expect(stage.feed.status().state).toBe('running')
  })

  it('that were missed come first, as backfill, oldest first', async () => {
    const stage = await stageOf()
    await stage.start({ lastBars: new Map([['BTC', barThatCloses(LAST_MINUTE_MS - 3 * MINUTE_MS)]]) })
    expect(openTimes(stage.bars())).toEqual(['12:31', '12:32', '12:33'])
    expect(stage.bars().every(({ backfill }) => backfill)).toBe(true)
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 4)
    expect(stage.bars()[3]?.backfill).toBe(false)
  })

  it('are fetched in pages, and not without end', async () => {
    const stage = await stageOf()
    const lastCloseMs = LAST_MINUTE_MS - 5000 * MINUTE_MS
    await stage.start({ lastBars: new Map([['btc', barThatCloses(lastCloseMs)]]) })
    expect(stage.calls).toHaveLength(4320)
    expect(stage.troubles).toEqual([expect.stringContaining('680 bars from 2026-02-17T01:14:00.000Z')])
    expect(stage.venue.requests.filter((request) => request.includes('/klines?'))).toHaveLength(5)
  })
})

describe('ticks', () => {
  it('come from a socket', async () => {
    const stage = await stageOf()
    await stage.start({ symbols: ['BTC', 'ETH', 'HYPE'] })
    await stage.until(() => stage.venue.streams.names().length === 3, 0)
    expect(stage.venue.streams.count()).toBe(2)
    await stage.until(() => {
      stage.venue.streams.tick()
      return new Set(stage.ticks.map(({ symbol }) => symbol)).size === 3
    }, 1)
    for (const { symbol, price, atMs } of stage.ticks) {
      expect(price).toBe(Number(priceAt(symbol, atMs).toFixed(4)))
    }
    expect(new Set(stage.ticks.map(({ symbol, atMs }) => `${symbol} ${atMs}`)).size).toBe(stage.ticks.length)
    expect(stage.venue.requests.filter((request) => request.includes('/ticker/'))).toEqual([])
    await stage.feed.stop()
    await stage.until(() => stage.venue.streams.count() === 0, 0)
  })
})

describe('a start', () => {
  it('rejects for an exchange that nobody knows', async () => {
    const stage = await stageOf({ exchange: 'constructor' })
    await expect(stage.start()).rejects.toThrow('constructor is no exchange')
  })

  it('rejects for bars that the venue does not have', async () => {
    const stage = await stageOf({ barSeconds: 61 })
    await expect(stage.start()).rejects.toThrow('no bars of 61 seconds')
  })

  it('tells once which symbols the venue does not have', async () => {
    const stage = await stageOf()
    await stage.start({ symbols: ['BTC', 'NOPE', 'DOGE'] })
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 2)
    expect(stage.troubles).toEqual(['binance does not trade NOPE, DOGE against dollars'])
    expect(stage.feed.status()).toMatchObject({ state: 'running', trouble: null })
  })
})
