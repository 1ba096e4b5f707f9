import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { FeedBar } from '../../../core/market/bar.ts'
import { createManualTimer, settle, type ManualTimer } from '../../../ports/manual-timer.fixture.ts'
import type { FeedListener, FeedStart, MarketFeed } from '../../../ports/market-feed.ts'
import { createFileFeed } from './file-feed.ts'

export const START_MS = Date.parse('2026-02-20T12:34:56.789Z')
export const FIRST_MS = Date.parse('2024-02-01T00:00:00.000Z')
export const MINUTE_MS = 60_000
export const HEADER = 'ts,symbol,open,high,low,close,volume'

export const tsOf = (minute: number): string => new Date(FIRST_MS + minute * MINUTE_MS).toISOString()
export const row = (minute: number, symbol = 'BTC', close = 100 + minute): string =>
  `${tsOf(minute)},${symbol},${close},${close},${close},${close},2`
export const csv = (...rows: readonly string[]): string => [HEADER, ...rows, ''].join('\n')
export const minutes = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, minute) => minute)

interface OpenedFile {
  readonly path: string
  readonly timer: ManualTimer
  readonly feed: MarketFeed
}

interface RecordingListener {
  readonly listener: FeedListener
  readonly calls: (readonly FeedBar[])[]
  readonly errors: string[]
}

/** Keeps what the feed delivers. */
export const recordingListener = (): RecordingListener => {
  const calls: (readonly FeedBar[])[] = []
  const errors: string[] = []
  const listener: FeedListener = {
    onBars: async (bars) => {
      calls.push(bars)
    },
    onTick: () => undefined,
    onError: (message) => errors.push(message),
  }
  return { listener, calls, errors }
}

/** A folder for the files of one test file. */
export const useFiles = () => {
  let folder = ''
  let files = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-feed-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** A feed of a file with this text. */
  const opened = async (text: string | Buffer, speed = 1): Promise<OpenedFile> => {
    files += 1
    const path = join(folder, `bars-${files}`)
    await writeFile(path, text)
    const timer = createManualTimer(START_MS)
    return { path, timer, feed: createFileFeed({ settings: { file: path, speed, bar_seconds: 60 }, timer }) }
  }

  /** Replays a whole file, however long it takes. */
  const replayed = async (text: string | Buffer, from: Partial<FeedStart> = {}, speed = 1_000_000) => {
    const { path, timer, feed } = await opened(text, speed)
    const { listener, calls, errors } = recordingListener()
    const deliveredAtMs: number[] = []
    const onBars = (bars: readonly FeedBar[]): Promise<void> | undefined => {
      deliveredAtMs.push(timer.now())
      return listener.onBars(bars)
    }
    await feed.start(
      { symbols: ['BTC', 'ETH'], segment: 1, lastBars: new Map(), ...from },
      { ...listener, onBars },
    )
    while (feed.status().state !== 'ended') {
      await timer.advance(MINUTE_MS)
      await settle()
    }
    await feed.stop()
    const short = calls.map((bars) =>
      bars.map(({ symbol, open_ts, close }) => `${open_ts.slice(11, 16)} ${symbol} ${close}`).join(', '),
    )
    return { calls, short, deliveredAtMs, errors: errors.map((message) => message.replace(path, 'FILE')) }
  }

  return { opened, replayed }
}
