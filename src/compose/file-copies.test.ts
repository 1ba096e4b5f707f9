import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { csv, HEADER, minutes, row, tsOf } from '../adapters/feeds/file/file-feed.fixture.ts'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import { RecordedTimer } from '../backtest/recorded-timer.ts'
import type { FeedBar } from '../core/market/bar.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import { copyOf, feedOfCopy, type TextBars } from './file-copies.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'file-copies-'))
})
afterEach(() => rm(home, { recursive: true }))

const SYMBOLS = ['BTC', 'ETH']

/** Everything that a feed delivers and reports, in order. */
const deliveredBy = async (feed: MarketFeed): Promise<readonly (string | readonly FeedBar[])[]> => {
  const delivered: (string | readonly FeedBar[])[] = []
  await feed.start(
    { symbols: SYMBOLS, segment: 1, lastBars: new Map() },
    {
      onBars: (bars) => {
        delivered.push(bars)
        return undefined
      },
      onTick: () => undefined,
      onError: (message) => delivered.push(message),
    },
  )
  while (feed.status().state === 'running') await yieldToEventLoop()
  expect(feed.status().state).toBe('ended')
  await feed.stop()
  return delivered
}

const written = async (text: string): Promise<TextBars> => {
  const file = join(home, 'bars.csv')
  await writeFile(file, text)
  return { market: { file, speed: 1_000_000, bar_seconds: 60 }, symbols: SYMBOLS }
}

const ofText = ({ market }: TextBars) =>
  deliveredBy(createFileFeed({ settings: market, timer: new RecordedTimer(0) }))

const ofCopy = async (bars: TextBars) => deliveredBy(await feedOfCopy((await copyOf(bars, home)) ?? ''))

describe('a copy of a file with bars', () => {
  it('delivers the same bars and messages at the same places', async () => {
    const both = minutes(120).flatMap((minute) => [row(minute), row(minute, 'ETH')])
    const bars = await written(
      csv(
        row(3),
        ...both,
        'nonsense',
        `${tsOf(10)},BTC,1,2,3,4,5`,
        `${tsOf(20)},ETH,7,7,7,7,2`,
        ...minutes(2000).map((minute) => row(minute + 200)),
        `${tsOf(2300).replace(':00.000Z', ':30.000Z')},BTC,1,1,1,1,1`,
        `${tsOf(2400)},ETH,7,7,7,7,2`,
      ),
    )
    const direct = await ofText(bars)
    expect(direct.filter((one) => typeof one === 'string').length).toBeGreaterThan(3)
    expect(await ofCopy(bars)).toEqual(direct)
  })

  it('keeps what is known beside prices, and what is not', async () => {
    const side = 'quote_volume,funding_annualized,open_interest_usd,fear_greed'
    const rows = minutes(30).map(
      (minute) => `${row(minute)},${minute % 2 ? '' : 12},${minute - 9},,${minute}`,
    )
    const bars = await written([`${HEADER},${side}`, ...rows, ''].join('\n'))
    expect(await ofCopy(bars)).toEqual(await ofText(bars))
  })

  it('is longer than one part, and the same', async () => {
    const bars = await written(
      csv(...minutes(50_500).flatMap((at) => [row(at), row(at, 'ETH')].slice(at % 2))),
    )
    expect(await ofCopy(bars)).toEqual(await ofText(bars))
  })

  it('is made once, and again when the file has changed, also to the same size', async () => {
    const bars = await written(csv(...minutes(50).map((minute) => row(minute))))
    const path = (await copyOf(bars, home)) ?? ''
    const made = await readFile(path)
    const { ino, mtimeMs } = await stat(path)
    expect(await copyOf(bars, home)).toBe(path)
    expect(await stat(path)).toMatchObject({ ino, mtimeMs })
    await written(csv(...minutes(50).map((minute) => row(minute, 'BTC', minute === 7 ? 999 : 100 + minute))))
    expect(await ofCopy(bars)).toEqual(await ofText(bars))
    expect(await readFile(path)).not.toEqual(made)
    expect(await readdir(join(home, 'data', 'copies'))).toHaveLength(1)
  })

  it('is made again when it is damaged', async () => {
    const bars = await written(csv(...minutes(500).map((minute) => row(minute))))
    const path = (await copyOf(bars, home)) ?? ''
    const made = await readFile(path)
    for (const place of [100, 1000, made.length - 20, made.lastIndexOf('BTC')]) {
      const damaged = Buffer.from(made)
      damaged[place] = (damaged[place] ?? 0) ^ 0xff
      await writeFile(path, damaged)
      expect(await ofCopy(bars)).toEqual(await ofText(bars))
    }
  })

  it('is none of a file that has no bars, or is not there', async () => {
    expect(await copyOf(await written('nonsense'), home)).toBeNull()
    const { market } = await written('')
    await rm(market.file)
    expect(await copyOf({ market, symbols: SYMBOLS }, home)).toBeNull()
  })
})
