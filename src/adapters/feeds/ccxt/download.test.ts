import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startExchangeServer, type ExchangeServer } from '../../../../test/exchange-server/exchange-server.ts'
import type { HistoryBar } from '../../../core/market/history/series.ts'
import { createManualTimer, type ManualTimer } from '../../../ports/manual-timer.fixture.ts'
import type {
  BarStore,
  DownloadProgress,
  DownloadReport,
  DownloadRequest,
} from '../../../ports/bar-history.ts'
import { createBarStore } from '../../history/bar-files/bar-store.ts'
import { pause } from './ccxt-feed.fixture.ts'
import { downloadBars } from './download.ts'

const NOW_MS = Date.parse('2026-02-20T12:34:56.789Z')
const MINUTE_MS = 60_000

let folder: string
let venue: ExchangeServer
let timer: ManualTimer
let store: BarStore
let stop: AbortController
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'download-'))
  timer = createManualTimer(NOW_MS)
  venue = await startExchangeServer({ now: () => timer.now() })
  store = createBarStore(folder)
  stop = new AbortController()
})
afterEach(async () => {
  await venue.close()
  await rm(folder, { recursive: true })
})

/** Time moves only as long as the download waits for it. */
const download = async (changes: Partial<DownloadRequest> = {}): Promise<DownloadReport> => {
  const request: DownloadRequest = {
    exchange: 'binance',
    symbol: 'BTC',
    seconds: 60,
    fromMs: Date.parse('2026-02-18'),
    toMs: NOW_MS,
    url: venue.baseUrl,
    onProgress: () => undefined,
    ...changes,
  }
  let isOver = false
  const running = downloadBars(request, { store, timer, signal: stop.signal }).finally(() => (isOver = true))
  running.catch(() => undefined)
  while (!isOver) {
    await pause(venue)
    if (!isOver) await timer.advance(100)
  }
  return running
}

const NAME = { venue: 'binance', symbol: 'BTC-USDT', seconds: 60 }
const stored = async (): Promise<readonly HistoryBar[]> => {
  const bars: HistoryBar[] = []
  for await (const month of store.read(NAME)) bars.push(...month)
  return bars
}
const requested = () => venue.requests.filter((request) => request.includes('/klines'))

describe('a download', () => {
  it('stores every closed bar of the range, in order, and no other', async () => {
    const progress: DownloadProgress[] = []
    const report = await download({ onProgress: (step) => progress.push(step) })
    const expected = (Date.parse('2026-02-20T12:34:00Z') - Date.parse('2026-02-18')) / MINUTE_MS
    expect(report).toMatchObject({ name: NAME, market: 'BTC/USDT', added: expected, present: 0, missing: 0 })
    const times = (await stored()).map(({ openMs }) => openMs)
    expect(times).toEqual(
      Array.from({ length: expected }, (_, minute) => Date.parse('2026-02-18') + minute * MINUTE_MS),
    )
    expect(progress.at(-1)).toMatchObject({ bars: expected })
    expect(progress.at(-1)?.doneMs).toBe(progress.at(-1)?.totalMs)
    expect(requested()).toHaveLength(4)
  })

  it('asks only for what is not stored yet', async () => {
    await download({ toMs: Date.parse('2026-02-19') })
    venue.requests.length = 0
    const report = await download({
      fromMs: Date.parse('2026-02-17T23:00Z'),
      toMs: Date.parse('2026-02-19T01:00Z'),
    })
    expect(report).toMatchObject({ added: 120, present: 1440, missing: 0, conflicts: [] })
    expect(requested()).toHaveLength(2)
    venue.requests.length = 0
    expect(await download({ toMs: Date.parse('2026-02-19') })).toMatchObject({ added: 0, present: 1440 })
    expect(requested()).toEqual([])
  })

  it('goes on after it was interrupted, and keeps what it had', async () => {
    const breakDown = () => venue.faults.add(/klines/, { kind: 'drop' }, 100)
    await expect(download({ onProgress: breakDown })).rejects.toThrow(/fetch failed|klines/)
    expect(await stored()).toHaveLength(1000)
    venue.faults.clear()
    const report = await download()
    expect(report).toMatchObject({ present: 1000, missing: 0 })
    expect(await stored()).toHaveLength(report.added + report.present)
  })

  it('gets over failures that pass, and waits as long as the exchange asks', async () => {
    venue.faults.add(/klines/, { kind: 'garbage' }, 2)
    venue.faults.add(/klines/, { kind: 'status', status: 429, retryAfterSeconds: 45 }, 1)
    const beganMs = timer.now()
    expect(await download({ toMs: Date.parse('2026-02-19') })).toMatchObject({ added: 1440, missing: 0 })
    expect(timer.now() - beganMs).toBeGreaterThan(45_000)
  })

  it('gets over a list of markets that fails at first', async () => {
    venue.faults.add(/exchangeInfo/, { kind: 'drop' }, 3)
    expect(await download({ toMs: Date.parse('2026-02-19') })).toMatchObject({ added: 1440, missing: 0 })
  })

  it('gets over a gap that the exchange has, and says how long it is', async () => {
    const fromMs = Date.parse('2026-02-18')
    for (let minute = 100; minute < 2700; minute += 1)
      venue.world.missingOpenMs.add(fromMs + minute * MINUTE_MS)
    expect(await download()).toMatchObject({ missing: 2600 })
    expect((await stored()).at(-1)?.openMs).toBe(Date.parse('2026-02-20T12:33:00Z'))
  })

  it('misses nothing that another one stored at the same time', async () => {
    const reports = await Promise.all([1, 2].map(() => download({ toMs: Date.parse('2026-02-19') })))
    expect(reports.map(({ added, repeated }) => added + repeated)).toEqual([1440, 1440])
    expect(reports.map(({ missing }) => missing)).toEqual([0, 0])
    expect(await stored()).toHaveLength(1440)
  })

  it('takes pages that repeat bars and are out of order', async () => {
    venue.world.areCandlesShuffled = true
    expect(await download()).toMatchObject({ missing: 0, conflicts: [] })
  })

  it('tells spot and perpetual apart', async () => {
    const { name } = await download({ symbol: 'BTC/USDT:USDT', fromMs: NOW_MS - 3_600_000 })
    expect(name.symbol).toBe('BTC-USDT-USDT')
    expect(requested()[0]).toMatch(/fapi/)
  })

  it.each([
    [{ exchange: 'binace' }, /--exchange: binace is not an exchange/],
    [{ seconds: 7200 * 5 }, /--timeframe: binance has no bars of 36000 seconds/],
    [{ symbol: 'NOPE' }, /binance lists no market NOPE/],
    [{ symbol: 'BTC/EUR' }, /binance lists no market BTC\/EUR/],
  ])('refuses %j', async (changes, message) => {
    await expect(download(changes)).rejects.toThrow(message)
    expect(await store.list()).toEqual([])
  })
})
