import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { startVenue } from '../../../../test/venue/venue.ts'
import { barFaultOf, type FeedBar } from '../../../core/market/bar.ts'
import type { CcxtFeedDependencies } from './ccxt-feed.ts'
import { MINUTE_MS, openCcxtStage, type CcxtStage } from './ccxt-feed.fixture.ts'

const stages: CcxtStage[] = []
const stageOf = async (changes: Partial<CcxtFeedDependencies> = {}): Promise<CcxtStage> => {
  const stage = await openCcxtStage(changes)
  stages.push(stage)
  return stage
}
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close()
})

const KLINES = /\/klines$/
const openTimes = (bars: readonly FeedBar[]) => bars.map(({ open_ts }) => open_ts.slice(11, 16))
const klineRequests = ({ venue }: CcxtStage): number =>
  venue.requests.filter((request) => request.includes('/klines?')).length

describe.each([
  ['a dropped connection', { kind: 'drop' }],
  ['a 500', { kind: 'status', status: 500 }],
  ['a 503 without Retry-After', { kind: 'status', status: 503 }],
  ['a page of HTML', { kind: 'garbage' }],
  ['an answer that does not come', { kind: 'slow', waitMs: 60_000 }],
  ['an answer that does not end', { kind: 'trickle' }],
] as const)('after %s', (_, fault) => {
  it('asks again, and tells the bar once', async () => {
    const stage = await stageOf({ requestTimeoutMs: 2000 })
    await stage.start()
    stage.venue.faults.add(KLINES, fault, 2)
    await stage.nextMinute()
    await stage.until(() => stage.feed.status().state === 'troubled', 100)
    expect(stage.troubles).toEqual([expect.stringContaining('no bars of BTC for now: ')])
    expect(stage.troubles[0]?.length).toBeLessThan(400)
    await stage.until(() => stage.calls.length === 1, 100)
    await stage.until(() => stage.feed.status().state === 'running', 100)
    expect(openTimes(stage.bars())).toEqual(['12:34'])
    expect(stage.bars()[0]?.backfill).toBe(false)
    expect(stage.troubles).toHaveLength(1)
  })
})

describe('a venue that wants to be left alone', () => {
  it.each([429, 418])('is, for as long as its %i says', async (status) => {
    const stage = await stageOf()
    await stage.start({ symbols: ['BTC', 'ETH'] })
    stage.venue.faults.add(KLINES, { kind: 'status', status, retryAfterSeconds: 30 }, 2)
    await stage.nextMinute()
    await stage.until(() => stage.feed.status().state === 'troubled')
    const heldMs = stage.timer.now()
    const asked = stage.venue.requests.length
    await stage.timer.advance(29_000)
    await stage.until(() => stage.timer.now() >= heldMs + 29_500)
    expect(stage.venue.requests).toHaveLength(asked)
    await stage.until(() => stage.bars().length === 2, 100)
    expect(stage.timer.now()).toBeGreaterThanOrEqual(heldMs + 29_900)
    expect(stage.feed.status().state).toBe('running')
  })

  it('is asked more and more rarely while it fails', async () => {
    const stage = await stageOf()
    await stage.start()
    stage.venue.faults.add(/./, { kind: 'status', status: 500 })
    const begunMs = stage.timer.now()
    const askedMs: number[] = []
    await stage.until(() => {
      while (askedMs.length < klineRequests(stage)) askedMs.push(stage.timer.now())
      return stage.timer.now() > begunMs + 10 * MINUTE_MS
    }, 1500)
    // 1, 2, 4 … 32 seconds, then a minute each: some fifteen requests of all kinds in ten minutes.
    expect(askedMs.length).toBeLessThan(16)
    expect(askedMs.length).toBeGreaterThan(3)
    stage.venue.faults.clear()
    await stage.until(() => {
      stage.venue.streams.tick()
      return stage.feed.status().state === 'running'
    }, 1500)
    // What was missed meanwhile.
    expect(stage.bars().length).toBeGreaterThanOrEqual(10)
    expect(
      stage
        .bars()
        .slice(0, -1)
        .every(({ backfill }) => backfill),
    ).toBe(true)
    expect(new Set(openTimes(stage.bars())).size).toBe(stage.bars().length)
  })
})

describe('candles', () => {
  it('that do not come are missed, and come later as backfill', async () => {
    const stage = await stageOf()
    await stage.start()
    const { world } = stage.venue
    world.candlesEndMs = Date.parse('2026-02-20T12:34:00Z')
    await stage.nextMinute()
    await stage.until(() => stage.feed.status().state === 'troubled', 500)
    expect(stage.troubles).toEqual(['the venue has told no bar since 2026-02-20T12:34:00.000Z of BTC'])
    const asked = klineRequests(stage)
    expect(asked).toBe(5)
    await stage.nextMinute(0)
    world.candlesEndMs = Number.POSITIVE_INFINITY
    await stage.until(() => stage.calls.length === 2)
    expect(stage.bars().map(({ open_ts, backfill }) => [open_ts.slice(11, 16), backfill])).toEqual([
      ['12:34', true],
      ['12:35', false],
    ])
    expect(stage.feed.status()).toMatchObject({ state: 'running', trouble: null })
  })

  it('that come twice and out of order are told once and in order', async () => {
    const stage = await stageOf({ warmupHours: 1 })
    stage.venue.world.areCandlesShuffled = true
    await stage.start()
    await stage.nextMinute()
    await stage.until(() => stage.bars().at(-1)?.backfill === false)
    let last: FeedBar | null = null
    for (const bar of stage.bars()) {
      expect(barFaultOf(bar, last, stage.timer.now())).toBeNull()
      last = bar
    }
    expect(stage.bars()).toHaveLength(4 + 4 + 1)
  })

  it('that are late are waited for while they are fresh', async () => {
    const stage = await stageOf()
    await stage.start()
    const { world } = stage.venue
    const lateMs = Date.parse('2026-02-20T12:34:00Z')
    world.missingOpenMs.add(lateMs)
    await stage.nextMinute()
    await stage.until(() => klineRequests(stage) === 5, 500)
    await stage.nextMinute()
    await stage.until(() => klineRequests(stage) === 6)
    // 12:35 is there; telling it would close the door on 12:34.
    expect(stage.calls).toEqual([])
    world.missingOpenMs.delete(lateMs)
    await stage.until(() => stage.calls.length === 2)
    expect(openTimes(stage.bars())).toEqual(['12:34', '12:35'])
  })

  it('that never come are a gap, and that is told', async () => {
    const stage = await stageOf()
    await stage.start()
    stage.venue.world.missingOpenMs.add(Date.parse('2026-02-20T12:34:00Z'))
    await stage.nextMinute()
    await stage.until(() => klineRequests(stage) === 5, 500)
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1, 500)
    expect(openTimes(stage.bars())).toEqual(['12:35'])
    expect(stage.troubles.at(-1)).toBe(
      'BTC has a gap: 1 bars from 2026-02-20T12:34:00.000Z to 2026-02-20T12:35:00.000Z are not at the venue',
    )
    await stage.until(() => stage.feed.status().state === 'running')
  })
})

describe('side values', () => {
  it('that do not come are null, and the bar comes nevertheless', async () => {
    const stage = await stageOf()
    await stage.start()
    stage.venue.faults.add(/\/(depth|premiumIndex|openInterest)$/, { kind: 'status', status: 500 })
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    expect(stage.bars()[0]).toMatchObject({
      backfill: false,
      funding_annualized: null,
      basis_annualized: null,
      open_interest_usd: null,
      bid_depth_usd: null,
      ask_depth_usd: null,
    })
    expect(stage.troubles.join()).toContain('bars come without the book of BTC/USDT: ')
    expect(stage.feed.status().state).toBe('running')
  })
})

describe('the clock of the venue', () => {
  it.each([
    ['behind', 7000],
    ['ahead of', -90_000],
  ])('decides what has closed, though ours is %s it', async (side, skewMs) => {
    const stage = await stageOf()
    stage.venue.world.skewMs = skewMs
    await stage.start()
    expect(stage.feed.status().clockOffsetMs).toBe(skewMs)
    expect(stage.troubles).toEqual([
      `the clock of this machine is ${Math.abs(skewMs)} ms ${side} the venue's`,
    ])
    await stage.until(() => stage.calls.length === 1, 250)
    const closeMs = Date.parse(stage.bars()[0]?.close_ts ?? '')
    expect(stage.bars()[0]?.backfill).toBe(false)
    expect(closeMs).toBe(Math.floor((stage.timer.now() + skewMs) / MINUTE_MS) * MINUTE_MS)
    expect(stage.feed.status().state).toBe('running')
  })
})

describe('a clock that is set while the feed runs', () => {
  it('does not make a bar of what has not closed', async () => {
    const stage = await stageOf()
    await stage.start()
    await stage.nextMinute()
    await stage.until(() => stage.calls.length === 1)
    // Ours goes forward by three minutes and a half, the venue's does not.
    stage.venue.world.skewMs = -210_000
    await stage.timer.jump(210_000)
    await stage.until(() => stage.feed.status().clockOffsetMs === -210_000)
    await stage.until(() => stage.calls.length === 2, 500)
    expect(openTimes(stage.bars())).toEqual(['12:34', '12:35'])
    expect(Date.parse(stage.bars()[1]?.close_ts ?? '')).toBeLessThanOrEqual(stage.timer.now() - 210_000)
    expect(stage.bars()[1]?.backfill).toBe(false)
  })
})

describe('a socket', () => {
  it('that is silent is replaced by requests until another one talks', async () => {
    const stage = await stageOf()
    await stage.start()
    const { streams, world } = stage.venue
    await stage.until(() => streams.names().length === 1, 0)
    await stage.until(() => {
      streams.tick()
      return stage.ticks.length > 0
    }, 1)
    world.areSocketsMute = true
    await stage.until(() => stage.troubles.length > 0, 1000)
    expect(stage.troubles).toEqual(['prices come by request, as the socket of BTC/USDT is silent'])
    const told = stage.ticks.length
    await stage.until(() => stage.ticks.length > told + 1, 1000)
    expect(stage.feed.status().state).toBe('troubled')
    world.areSocketsMute = false
    await stage.until(() => {
      streams.tick()
      return stage.feed.status().state === 'running'
    }, 1000)
    expect(stage.troubles).toHaveLength(1)
  })

  it('that is silent is noticed beside one that talks', async () => {
    const stage = await stageOf()
    await stage.start({ symbols: ['BTC', 'HYPE'] })
    const { streams, world } = stage.venue
    await stage.until(() => streams.names().length === 2, 0)
    world.muteStreams.add('btcusdt@miniTicker')
    await stage.until(() => {
      streams.tick()
      return stage.troubles.length > 0
    }, 1000)
    await stage.until(() => {
      streams.tick()
      return new Set(stage.ticks.map(({ symbol }) => symbol)).size === 2
    }, 1000)
    expect(stage.troubles).toEqual(['prices come by request, as the socket of BTC/USDT is silent'])
    world.muteStreams.clear()
    await stage.until(() => {
      streams.tick()
      return stage.feed.status().state === 'running'
    }, 1000)
  })

  it('that breaks is opened again', async () => {
    const stage = await stageOf()
    await stage.start()
    const { streams } = stage.venue
    await stage.until(() => streams.names().length === 1, 0)
    streams.destroyAll()
    await stage.until(() => stage.feed.status().state === 'troubled', 0)
    expect(stage.troubles).toEqual([
      expect.stringContaining('prices come by request, as the socket of BTC/USDT broke: '),
    ])
    await stage.until(() => {
      streams.tick()
      return stage.feed.status().state === 'running'
    }, 100)
  })
})

describe('a venue that is down at the start', () => {
  it('is trouble, not the end: the feed starts, and recovers when the venue does', async () => {
    const port = await freePort()
    const stage = await stageOf({ baseUrl: `http://127.0.0.1:${port}` })
    await stage.start()
    expect(stage.feed.status()).toMatchObject({ state: 'troubled', lastBarAtMs: null })
    expect(stage.troubles).toEqual([expect.stringContaining('binance does not tell its markets: ')])
    const venue = await startVenue({ now: () => stage.timer.now(), port })
    try {
      await stage.until(() => stage.feed.status().state === 'running', 500)
      await stage.nextMinute()
      await stage.until(() => stage.calls.length === 1)
      expect(stage.bars()[0]?.backfill).toBe(false)
    } finally {
      await stage.feed.stop()
      await venue.close()
    }
  })

  it('or tells nonsense is asked again', async () => {
    const stage = await stageOf()
    stage.venue.faults.add(/exchangeInfo$/, { kind: 'garbage' }, 3)
    await stage.start()
    expect(stage.feed.status().state).toBe('troubled')
    await stage.until(() => stage.feed.status().state === 'running', 500)
  })
})

describe('a stop', () => {
  it.each([
    ['of the start', /exchangeInfo$/],
    ['of the past', KLINES],
  ])('in the middle of a request %s ends it', async (_, path) => {
    const stage = await stageOf({ warmupHours: 1 })
    stage.venue.faults.add(path, { kind: 'slow', waitMs: 60_000 })
    const started = stage.start()
    await stage.until(() => stage.venue.requests.some((request) => path.test(request.split('?')[0] ?? '')), 0)
    await stage.feed.stop()
    await started
    await stage.until(() => stage.venue.inFlight() === 0, 0)
    expect(stage.calls).toEqual([])
    expect(stage.troubles).toEqual([])
    expect(stage.feed.status().state).toBe('stopped')
  })

  it('in the middle of a wait and with open sockets leaves nothing behind', async () => {
    const stage = await stageOf()
    await stage.start({ symbols: ['BTC', 'HYPE'] })
    await stage.until(() => stage.venue.streams.count() === 2, 0)
    stage.venue.world.areSocketsMute = true
    stage.venue.faults.add(/./, { kind: 'status', status: 429, retryAfterSeconds: 3600 })
    await stage.nextMinute()
    await stage.until(() => stage.feed.status().state === 'troubled')
    await stage.feed.stop()
    await stage.until(() => stage.venue.streams.count() === 0, 0)
    const asked = stage.venue.requests.length
    await stage.timer.advance(2 * 3_600_000)
    expect(stage.venue.requests).toHaveLength(asked)
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
