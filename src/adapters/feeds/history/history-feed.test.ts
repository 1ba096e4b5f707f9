import { expect, it } from 'vitest'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import { createManualTimer, settle } from '../../../ports/manual-timer.fixture.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { barAt } from '../../../core/market/bars.fixture.ts'
import { createHistoryFeed } from './history-feed.ts'

const START_MS = Date.parse('2026-02-20T00:00:00.000Z')

const bar = (minute: number): HistoryBar => ({
  openMs: START_MS + minute * 60_000,
  open: 100,
  high: 101,
  low: 99,
  close: 100.5,
  volume: 2,
})

const minutes = (...numbers: readonly number[]) =>
  async function* () {
    // In two parts, as months come.
    yield numbers.slice(0, 2).map(bar)
    yield numbers.slice(2).map(bar)
  }

it('goes on after what is stored, and is started once', async () => {
  const calls: string[] = []
  const series = [{ symbol: 'BTC', months: minutes(0, 1, 2, 3) }]
  const feed = createHistoryFeed({ seconds: 60, series, timer: createManualTimer(START_MS) })
  const from = {
    symbols: ['BTC'],
    segment: 2,
    lastBars: new Map([['BTC', barAt('2026-02-20T00:01:00.000Z')]]),
  }
  const listener = {
    onBars: async (bars: readonly FeedBar[]) =>
      void calls.push(...bars.map(({ open_ts }) => open_ts.slice(14, 16))),
    onTick: () => undefined,
    onError: (message: string) => expect.unreachable(message),
  }
  await feed.start(from, listener)
  await expect(feed.start(from, listener)).rejects.toThrow(/already started/)
  while (feed.status().state !== 'ended') await settle()
  expect(calls).toEqual(['02', '03'])
})

it('delivers what opened together at once, over the ends of months and gaps', async () => {
  const calls: (readonly FeedBar[])[] = []
  const series = [
    { symbol: 'BTC', months: minutes(0, 1, 2, 5) },
    { symbol: 'ETH', months: minutes(1, 4, 5) },
  ]
  const feed = createHistoryFeed({ seconds: 60, series, timer: createManualTimer(START_MS) })
  await feed.start(
    { symbols: ['BTC', 'eth/usd'], segment: 1, lastBars: new Map() },
    {
      onBars: async (bars) => void calls.push(bars),
      onTick: () => undefined,
      onError: (message) => expect.unreachable(message),
    },
  )
  while (feed.status().state !== 'ended') await settle()
  expect(
    calls.map((bars) => bars.map(({ symbol, open_ts }) => `${open_ts.slice(14, 16)} ${symbol}`)),
  ).toEqual([['00 BTC'], ['01 BTC', '01 eth/usd'], ['02 BTC'], ['04 eth/usd'], ['05 BTC', '05 eth/usd']])
})

it('fails where its files cannot be read', async () => {
  const broken = async function* (): AsyncGenerator<readonly HistoryBar[]> {
    yield [bar(0)]
    throw new Error('2024-02.parquet is not a file of bars')
  }
  const feed = createHistoryFeed({
    seconds: 60,
    series: [{ symbol: 'BTC', months: broken }],
    timer: createManualTimer(START_MS),
  })
  await feed.start(
    { symbols: ['BTC'], segment: 1, lastBars: new Map() },
    { onBars: async () => undefined, onTick: () => undefined, onError: () => undefined },
  )
  while (feed.status().state === 'running') await settle()
  expect(feed.status()).toMatchObject({ state: 'failing', error: '2024-02.parquet is not a file of bars' })
  await feed.stop()
})
