import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startExchangeServer } from '../../../../test/exchange-server/exchange-server.ts'
import { barFaultOf, type FeedBar } from '../../../core/market/bar.ts'
import type { CcxtFeedDependencies } from './ccxt-feed.ts'
import { MINUTE_MS, openCcxtFeedFixture, type CcxtFeedFixture } from './ccxt-feed.fixture.ts'

const fixtures: CcxtFeedFixture[] = []
const openFixture = async (changes: Partial<CcxtFeedDependencies> = {}): Promise<CcxtFeedFixture> => {
  const fixture = await openCcxtFeedFixture(changes)
  fixtures.push(fixture)
  return fixture
}
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.close()
})

const KLINES = /\/klines$/
const openTimes = (bars: readonly FeedBar[]) => bars.map(({ open_ts }) => open_ts.slice(11, 16))
const klineRequests = ({ venue }: CcxtFeedFixture): number =>
  venue.requests.filter((request) => request.includes('/klines?')).length

describe.each([
  ['a dropped connection', { kind: 'drop' }],
  ['a 500', { kind: 'status', status: 500 }],
  ['a 503 without Retry-After', { kind: 'status', status: 503 }],
  ['a page of HTML', { kind: 'garbage' }],
  ['an answer that does not come', { kind: 'slow', waitMs: 60_000 }],
  ['an answer that does not end', { kind: 'trickle' }],
] as const)('after %s', (_, fault) => {
  it('retries, and delivers the bar once', async () => {
    const fixture = await openFixture({ requestTimeoutMs: 2000 })
    await fixture.start()
    fixture.venue.faults.add(KLINES, fault, 2)
    await fixture.nextMinute()
    await fixture.until(() => fixture.feed.status().state === 'failing', 100)
    expect(fixture.errors).toEqual([expect.stringContaining('could not fetch bars of BTC, will retry: ')])
    expect(fixture.errors[0]?.length).toBeLessThan(400)
    await fixture.until(() => fixture.calls.length === 1, 100)
    await fixture.until(() => fixture.feed.status().state === 'running', 100)
    expect(openTimes(fixture.bars())).toEqual(['12:34'])
    expect(fixture.bars()[0]?.backfill).toBe(false)
    expect(fixture.errors).toHaveLength(1)
  })
})

describe('an exchange that limits requests', () => {
  it.each([429, 418])('is not sent requests for as long as its %i asks', async (status) => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['BTC', 'ETH'] })
    fixture.venue.faults.add(KLINES, { kind: 'status', status, retryAfterSeconds: 30 }, 2)
    await fixture.nextMinute()
    await fixture.until(() => fixture.feed.status().state === 'failing')
    const heldMs = fixture.timer.now()
    const asked = fixture.venue.requests.length
    await fixture.timer.advance(29_000)
    await fixture.until(() => fixture.timer.now() >= heldMs + 29_500)
    expect(fixture.venue.requests).toHaveLength(asked)
    await fixture.until(() => fixture.bars().length === 2, 100)
    expect(fixture.timer.now()).toBeGreaterThanOrEqual(heldMs + 29_900)
    expect(fixture.feed.status().state).toBe('running')
  })

  it('is sent fewer and fewer requests while it fails', async () => {
    const fixture = await openFixture()
    await fixture.start()
    fixture.venue.faults.add(/./, { kind: 'status', status: 500 })
    const begunMs = fixture.timer.now()
    const askedMs: number[] = []
    await fixture.until(() => {
      while (askedMs.length < klineRequests(fixture)) askedMs.push(fixture.timer.now())
      return fixture.timer.now() > begunMs + 10 * MINUTE_MS
    }, 1500)
    // Waits of 1, 2, 4 … 32 seconds, then a minute each: about fifteen requests of all kinds in ten minutes.
    expect(askedMs.length).toBeLessThan(16)
    expect(askedMs.length).toBeGreaterThan(3)
    fixture.venue.faults.clear()
    await fixture.until(() => {
      fixture.venue.streams.tick()
      return fixture.feed.status().state === 'running'
    }, 1500)
    // The bars missed during the outage are filled in.
    expect(fixture.bars().length).toBeGreaterThanOrEqual(10)
    expect(
      fixture
        .bars()
        .slice(0, -1)
        .every(({ backfill }) => backfill),
    ).toBe(true)
    expect(new Set(openTimes(fixture.bars())).size).toBe(fixture.bars().length)
  })
})

describe('candles', () => {
  it('that are missing come later as backfill', async () => {
    const fixture = await openFixture()
    await fixture.start()
    const { world } = fixture.venue
    world.candlesEndMs = Date.parse('2026-02-20T12:34:00Z')
    await fixture.nextMinute()
    await fixture.until(() => fixture.feed.status().state === 'failing', 500)
    expect(fixture.errors).toEqual([
      'no bars of BTC since 2026-02-20T12:34:00.000Z: the exchange returns none',
    ])
    const asked = klineRequests(fixture)
    expect(asked).toBe(5)
    await fixture.nextMinute(0)
    world.candlesEndMs = Number.POSITIVE_INFINITY
    await fixture.until(() => fixture.calls.length === 2)
    expect(fixture.bars().map(({ open_ts, backfill }) => [open_ts.slice(11, 16), backfill])).toEqual([
      ['12:34', true],
      ['12:35', false],
    ])
    expect(fixture.feed.status()).toMatchObject({ state: 'running', error: null })
  })

  it('that come twice and out of order are delivered once and in order', async () => {
    const fixture = await openFixture({ warmupHours: 1 })
    fixture.venue.world.areCandlesShuffled = true
    await fixture.start()
    await fixture.nextMinute()
    await fixture.until(() => fixture.bars().at(-1)?.backfill === false)
    let last: FeedBar | null = null
    for (const bar of fixture.bars()) {
      expect(barFaultOf(bar, last, fixture.timer.now())).toBeNull()
      last = bar
    }
    expect(fixture.bars()).toHaveLength(4 + 4 + 1)
  })

  it('that are late are waited for while they are fresh', async () => {
    const fixture = await openFixture()
    await fixture.start()
    const { world } = fixture.venue
    const lateMs = Date.parse('2026-02-20T12:34:00Z')
    world.missingOpenMs.add(lateMs)
    await fixture.nextMinute()
    await fixture.until(() => klineRequests(fixture) === 5, 500)
    await fixture.nextMinute()
    await fixture.until(() => klineRequests(fixture) === 6)
    // The bar of 12:35 is available, but waits for 12:34.
    expect(fixture.calls).toEqual([])
    world.missingOpenMs.delete(lateMs)
    await fixture.until(() => fixture.calls.length === 2)
    expect(openTimes(fixture.bars())).toEqual(['12:34', '12:35'])
  })

  it('that never come are a gap, which is reported', async () => {
    const fixture = await openFixture()
    await fixture.start()
    fixture.venue.world.missingOpenMs.add(Date.parse('2026-02-20T12:34:00Z'))
    await fixture.nextMinute()
    await fixture.until(() => klineRequests(fixture) === 5, 500)
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1, 500)
    expect(openTimes(fixture.bars())).toEqual(['12:35'])
    expect(fixture.errors.at(-1)).toBe(
      'BTC has a gap of 1 bars from 2026-02-20T12:34:00.000Z to 2026-02-20T12:35:00.000Z: missing at the exchange',
    )
    await fixture.until(() => fixture.feed.status().state === 'running')
  })
})

describe('side values', () => {
  it('that are missing are null, and the bar is delivered', async () => {
    const fixture = await openFixture()
    await fixture.start()
    fixture.venue.faults.add(/\/(depth|premiumIndex|openInterest)$/, { kind: 'status', status: 500 })
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    expect(fixture.bars()[0]).toMatchObject({
      backfill: false,
      funding_annualized: null,
      basis_annualized: null,
      open_interest_usd: null,
      bid_depth_usd: null,
      ask_depth_usd: null,
    })
    expect(fixture.errors.join()).toContain('bars have no order book of BTC/USDT: ')
    expect(fixture.feed.status().state).toBe('running')
  })
})

describe('the clock of the exchange', () => {
  it.each([
    ['behind', 7000],
    ['ahead of', -90_000],
  ])('decides what has closed, though ours is %s it', async (side, skewMs) => {
    const fixture = await openFixture()
    fixture.venue.world.skewMs = skewMs
    await fixture.start()
    expect(fixture.feed.status().clockOffsetMs).toBe(skewMs)
    expect(fixture.errors).toEqual([
      `this machine's clock is ${Math.abs(skewMs)} ms ${side} the exchange's: check its time synchronisation`,
    ])
    await fixture.until(() => fixture.calls.length === 1, 250)
    const closeMs = Date.parse(fixture.bars()[0]?.close_ts ?? '')
    expect(fixture.bars()[0]?.backfill).toBe(false)
    expect(closeMs).toBe(Math.floor((fixture.timer.now() + skewMs) / MINUTE_MS) * MINUTE_MS)
    expect(fixture.feed.status().state).toBe('running')
  })
})

describe('a clock that is set while the feed runs', () => {
  it('does not deliver a bar that has not closed', async () => {
    const fixture = await openFixture()
    await fixture.start()
    await fixture.nextMinute()
    await fixture.until(() => fixture.calls.length === 1)
    // Our clock moves forward by three and a half minutes; the venue's does not.
    fixture.venue.world.skewMs = -210_000
    await fixture.timer.jump(210_000)
    await fixture.until(() => fixture.feed.status().clockOffsetMs === -210_000)
    await fixture.until(() => fixture.calls.length === 2, 500)
    expect(openTimes(fixture.bars())).toEqual(['12:34', '12:35'])
    expect(Date.parse(fixture.bars()[1]?.close_ts ?? '')).toBeLessThanOrEqual(fixture.timer.now() - 210_000)
    expect(fixture.bars()[1]?.backfill).toBe(false)
  })
})

describe('a socket', () => {
  it('that is silent is replaced by polling until another one works', async () => {
    const fixture = await openFixture()
    await fixture.start()
    const { streams, world } = fixture.venue
    await fixture.until(() => streams.names().length === 1, 0)
    await fixture.until(() => {
      streams.tick()
      return fixture.ticks.length > 0
    }, 1)
    world.areSocketsMute = true
    await fixture.until(() => fixture.errors.length > 0, 1000)
    expect(fixture.errors).toEqual(['the socket of BTC/USDT is silent: polling prices instead'])
    const before = fixture.ticks.length
    await fixture.until(() => fixture.ticks.length > before + 1, 1000)
    expect(fixture.feed.status().state).toBe('failing')
    world.areSocketsMute = false
    await fixture.until(() => {
      streams.tick()
      return fixture.feed.status().state === 'running'
    }, 1000)
    expect(fixture.errors).toHaveLength(1)
  })

  it('that is silent is noticed beside one that works', async () => {
    const fixture = await openFixture()
    await fixture.start({ symbols: ['BTC', 'HYPE'] })
    const { streams, world } = fixture.venue
    await fixture.until(() => streams.names().length === 2, 0)
    world.muteStreams.add('btcusdt@miniTicker')
    await fixture.until(() => {
      streams.tick()
      return fixture.errors.length > 0
    }, 1000)
    await fixture.until(() => {
      streams.tick()
      return new Set(fixture.ticks.map(({ symbol }) => symbol)).size === 2
    }, 1000)
    expect(fixture.errors).toEqual(['the socket of BTC/USDT is silent: polling prices instead'])
    world.muteStreams.clear()
    await fixture.until(() => {
      streams.tick()
      return fixture.feed.status().state === 'running'
    }, 1000)
  })

  it('that breaks is opened again', async () => {
    const fixture = await openFixture()
    await fixture.start()
    const { streams } = fixture.venue
    await fixture.until(() => streams.names().length === 1, 0)
    streams.destroyAll()
    await fixture.until(() => fixture.feed.status().state === 'failing', 0)
    expect(fixture.errors).toEqual([expect.stringContaining('the socket of BTC/USDT broke (')])
    await fixture.until(() => {
      streams.tick()
      return fixture.feed.status().state === 'running'
    }, 100)
  })
})

describe('an exchange that is down at the start', () => {
  it('leaves the feed failing until the exchange recovers', async () => {
    const port = await freePort()
    const fixture = await openFixture({ baseUrl: `http://127.0.0.1:${port}` })
    await fixture.start()
    expect(fixture.feed.status()).toMatchObject({ state: 'failing', lastBarAtMs: null })
    expect(fixture.errors).toEqual([
      expect.stringContaining('could not load the markets of binance, will retry: '),
    ])
    const venue = await startExchangeServer({ now: () => fixture.timer.now(), port })
    try {
      await fixture.until(() => fixture.feed.status().state === 'running', 500)
      await fixture.nextMinute()
      await fixture.until(() => fixture.calls.length === 1)
      expect(fixture.bars()[0]?.backfill).toBe(false)
    } finally {
      await fixture.feed.stop()
      await venue.close()
    }
  })

  it('or sends garbage is asked again', async () => {
    const fixture = await openFixture()
    fixture.venue.faults.add(/exchangeInfo$/, { kind: 'garbage' }, 3)
    await fixture.start()
    expect(fixture.feed.status().state).toBe('failing')
    await fixture.until(() => fixture.feed.status().state === 'running', 500)
  })
})

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
