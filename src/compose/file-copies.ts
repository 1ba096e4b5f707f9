import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createCopiedFeed } from '../adapters/feeds/file/copied-feed.ts'
import { createFileFeed } from '../adapters/feeds/file/file-feed.ts'
import {
  contentHash,
  FeedBarsEncoder,
  readFeedBars,
  writeCopy,
} from '../adapters/history/bar-files/feed-bars.ts'
import { RecordedTimer } from '../backtest/recorded-timer.ts'
import type { Configuration } from '../core/config/schema.ts'
import type { MarketFeed } from '../ports/market-feed.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import { historyFolder } from './history.ts'

/** A file with bars as text, and the symbols that are read from it. */
export interface TextBars {
  readonly market: Pick<Configuration['market'], 'file' | 'speed' | 'bar_seconds'>
  readonly symbols: readonly string[]
}

/**
 * Path of a copy of the file in Parquet, in `<home>/data/copies`. Text is read once: a copy holds what the feed of the
 * file delivers, with its messages, and is used while the file has the content that was copied. Null if the file cannot
 * be copied, so that the run reads the file and reports why. A service makes no copies itself: it would parse text
 * instead of answering requests.
 */
export const copyOf = async (
  bars: TextBars,
  home: string,
  { makes = true }: { readonly makes?: boolean } = {},
): Promise<string | null> => {
  const path = join(historyFolder(home), 'copies', `${nameOf(bars)}.parquet`)
  try {
    const content = await contentHash(bars.market.file)
    const known = await readFeedBars(path).catch(() => null)
    if (known?.note.content === content) return path
    if (!makes) return null
    await writeCopy(path, await encoded(bars, content))
    // A file that changed while it was read has no copy.
    return (await contentHash(bars.market.file)) === content ? path : null
  } catch {
    // Without a copy the run reads the file itself, and reports an error of the file there.
    return null
  }
}

export const feedOfCopy = async (path: string): Promise<MarketFeed> => {
  const { note, parts } = await readFeedBars(path)
  return createCopiedFeed({ messages: note.messages, parts }, new RecordedTimer(0))
}

/** Version of the copies. Change it with what a feed of a file delivers. */
const FORMAT = 1

const nameOf = ({ market, symbols }: TextBars): string =>
  createHash('sha256')
    .update(JSON.stringify([FORMAT, market.file, market.bar_seconds, symbols]))
    .digest('hex')
    .slice(0, 32)

const encoded = async ({ market, symbols }: TextBars, content: string): Promise<Uint8Array> => {
  const encoder = new FeedBarsEncoder()
  const feed = createFileFeed({ settings: market, timer: new RecordedTimer(0) })
  await feed.start(
    { symbols, segment: 1, lastBars: new Map() },
    {
      onBars: (bars) => encoder.add(bars),
      onTick: () => undefined,
      onError: (text) => encoder.addMessage(text),
    },
  )
  try {
    while (feed.status().state === 'running') await yieldToEventLoop()
  } finally {
    await feed.stop()
  }
  const { state, error } = feed.status()
  if (error !== null) throw new Error(`${state}: ${error}`)
  return encoder.end(content)
}
