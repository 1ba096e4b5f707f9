import { rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { barAt } from '../../../core/market/bars.fixture.ts'
import { createManualTimer, settle } from '../../../ports/manual-timer.fixture.ts'
import { marketFeedContract } from '../../../ports/market-feed.contract.ts'
import type { FeedStart } from '../../../ports/market-feed.ts'
import {
  csv,
  MINUTE_MS,
  minutes,
  recordingListener,
  row,
  START_MS,
  tsOf,
  useFiles,
} from './file-feed.fixture.ts'
import { createFileFeed, createPace, describeFile } from './file-feed.ts'

const { opened, replayed } = useFiles()

const FROM_NOTHING: FeedStart = { symbols: ['BTC'], segment: 1, lastBars: new Map() }

marketFeedContract('the file feed', async () => {
  const bars = minutes(30).flatMap((minute) => [row(minute), row(minute, 'ETH')])
  const { feed, timer } = await opened(csv(...bars))
  return {
    feed,
    nowMs: () => timer.now(),
    pass: () => timer.advance(20_000),
    close: async () => undefined,
  }
})

const failureOf = async (text: string | Buffer): Promise<string> => {
  const { feed } = await opened(text)
  const failure = await feed.start(FROM_NOTHING, recordingListener().listener).then(() => 'started', String)
  await feed.stop()
  return failure
}

describe('a file that cannot be replayed', () => {
  it.each([
    ['is empty', '', 'empty'],
    ['has blank lines only', '\n\n', 'empty'],
    ['has no header', `${row(0)}\n${row(1)}\n`, 'no usable header: expected ts,symbol,open'],
    ['lacks a column', 'ts,symbol,open,high,low,close\n', 'no usable header'],
    ['is an array', '[{"ts":1}]', 'no usable header'],
    ['holds other objects', '{"price":1}', 'no usable header'],
    ['is in another encoding', Buffer.from(csv(row(0)), 'utf16le'), 'no usable header'],
    ['has no symbol of the universe', csv(row(0, 'DOGE')), 'no bars of BTC'],
    ['has no valid row', csv('x'), 'no bars of BTC'],
  ])('%s', async (_name, text, words) => {
    expect(await failureOf(text)).toContain(words)
  })

  it('is out of order beyond what can be merged', async () => {
    const shuffled = minutes(70).flatMap((part) =>
      [...minutes(1100).map((minute) => minute * 70 + part), part + 1].map((minute) => row(minute)),
    )
    expect(await failureOf(csv(...shuffled))).toContain('sort it by time')
  })

  it.each([
    ['is missing', '/nowhere/bars.csv', 'market.file /nowhere/bars.csv cannot be read: ENOENT'],
    ['is a folder', '/', 'market.file / cannot be read: EISDIR'],
    ['has no name', '', 'market.file is empty'],
  ])('%s', async (_name, file, words) => {
    const timer = createManualTimer(START_MS)
    const feed = createFileFeed({ settings: { file, speed: 1, bar_seconds: 60 }, timer })
    await expect(feed.start(FROM_NOTHING, recordingListener().listener)).rejects.toThrow(words)
    await feed.stop()
  })
})

describe('a replay', () => {
  const begun = async (text: string) => {
    const { path, timer, feed } = await opened(text)
    const { listener, calls, errors } = recordingListener()
    return { path, timer, feed, calls, errors, started: feed.start(FROM_NOTHING, listener) }
  }

  it('can be stopped while the file is scanned', async () => {
    const { feed, calls, started } = await begun(csv(...minutes(3000).map((minute) => row(minute))))
    await feed.stop()
    await started
    expect(calls).toEqual([])
    expect(feed.status().state).toBe('stopped')
  })

  it('ends early with an error when the file is removed', async () => {
    // Newest first: its runs are opened one after the other.
    const rows = minutes(3000).toReversed()
    const { path, timer, feed, calls, errors, started } = await begun(
      csv(...rows.map((minute) => row(minute))),
    )
    await started
    await rm(path)
    while (feed.status().state === 'running') {
      await timer.advance(MINUTE_MS)
      await settle()
    }
    expect(feed.status().state).toBe('failing')
    expect(calls.length).toBeLessThan(3000)
    expect(errors.join()).toContain('ended early: ENOENT')
    await feed.stop()
  })
})

describe('the pace', () => {
  it('delivers the first at once and the others at their distance, by the speed', () => {
    const pace = createPace(10)
    expect(pace.waitMs(5_000_000, 100)).toBe(0)
    expect(pace.waitMs(5_060_000, 100)).toBe(6000)
    expect(pace.waitMs(5_120_000, 6100)).toBe(6000)
  })

  it('makes up for small delays', () => {
    const pace = createPace(1)
    pace.waitMs(0, 0)
    expect(pace.waitMs(60_000, 3000)).toBe(57_000)
    expect(pace.waitMs(61_000, 62_000)).toBe(0)
    expect(pace.waitMs(120_000, 62_500)).toBe(57_500)
  })

  it.each([
    ['slept', 10_000_000],
    ['was set back', -10_000_000],
  ])('continues from now when the clock %s', (_name, shiftMs) => {
    const pace = createPace(1)
    pace.waitMs(0, 20_000_000)
    pace.waitMs(60_000, 20_000_000)
    const nowMs = 20_060_000 + shiftMs
    expect(pace.waitMs(120_000, nowMs)).toBe(0)
    expect(pace.waitMs(180_000, nowMs)).toBe(60_000)
  })

  it('follows the file at the configured speed', async () => {
    const { deliveredAtMs } = await replayed(
      csv(...[0, 1, 2, 5, 6].map((minute) => row(minute))),
      { symbols: ['BTC'] },
      4,
    )
    const [first = 0] = deliveredAtMs
    expect(deliveredAtMs.map((ms) => ms - first)).toEqual([0, 15_000, 30_000, 75_000, 90_000])
  })
})

describe('on a store with bars', () => {
  it('skips what is stored, symbol by symbol, without waiting for it', async () => {
    const lastBars = new Map([
      ['BTC', barAt(tsOf(1))],
      ['ETH', barAt(tsOf(2), 100, { symbol: 'ETH' })],
    ])
    const { short, deliveredAtMs } = await replayed(
      csv(...minutes(5).flatMap((minute) => [row(minute), row(minute, 'ETH')])),
      { lastBars },
      1,
    )
    expect(short).toEqual(['00:02 BTC 102', '00:03 BTC 103, 00:03 ETH 103', '00:04 BTC 104, 00:04 ETH 104'])
    expect((deliveredAtMs[2] ?? 0) - (deliveredAtMs[0] ?? 0)).toBe(120_000)
  })
})

describe('the beginning of a file', () => {
  const deliveries = async (historySeconds: number, lastBars = FROM_NOTHING.lastBars) => {
    const { path } = await opened(csv(...minutes(5).map((minute) => row(minute))))
    const delivered: (readonly [backfill: boolean, atMs: number])[] = []
    const settings = { file: path, speed: 1, bar_seconds: 60 }
    const timer = createManualTimer(START_MS)
    const { listener } = recordingListener()
    const feed = createFileFeed({ settings, timer, historySeconds })
    await feed.start(
      { ...FROM_NOTHING, lastBars },
      {
        ...listener,
        onBars: async (bars) => {
          for (const { backfill } of bars) delivered.push([backfill, timer.now() - START_MS])
        },
      },
    )
    while (feed.status().state !== 'ended') {
      await settle()
      await timer.advance(MINUTE_MS)
    }
    await feed.stop()
    return delivered
  }

  it('is the past as far as that is wanted: delivered at once', async () => {
    const delivered = await deliveries(120)
    expect(delivered.map(([backfill]) => backfill)).toEqual([true, true, false, false, false])
    const [first, second, third, , last] = delivered.map(([, atMs]) => atMs)
    expect([first, second]).toEqual([third, third])
    expect((last ?? 0) - (third ?? 0)).toBe(120_000)
  })

  it('stays the past after a restart in it', async () => {
    const delivered = await deliveries(180, new Map([['BTC', barAt(tsOf(0))]]))
    expect(delivered.map(([backfill]) => backfill)).toEqual([true, true, false, false])
  })

  it('is known before the replay', async () => {
    const { path } = await opened(csv(row(3), row(1), row(2)))
    const settings = { file: path, speed: 1, bar_seconds: 5 }
    expect(await describeFile(settings, ['BTC'])).toEqual({
      firstOpenMs: Date.parse(tsOf(1)),
      resolutionSeconds: 60,
    })
    await expect(describeFile(settings, ['SOL'])).rejects.toThrow('no bars of SOL')
    await expect(describeFile({ ...settings, file: `${path}.not` }, ['BTC'])).rejects.toThrow(
      'cannot be read',
    )
  })
})
