import type { Configuration } from '../../../core/config/schema.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { createComplaints } from './complaints.ts'
import { inOrder, overlapOf } from './merge.ts'
import { Replay } from './replay.ts'
import { scanFile, type Scan } from './scan.ts'
import { resolutionSecondsOf } from './spacing.ts'

interface FileFeedDependencies {
  readonly settings: Pick<Configuration['market'], 'file' | 'speed' | 'bar_seconds'>
  readonly timer: Timer
}

/** Recorded bars, told again at the speed of the configuration. */
export const createFileFeed = ({ settings, timer }: FileFeedDependencies): MarketFeed => {
  const abort = new AbortController()
  let starting: Promise<Replay | null> | null = null
  let replay: Replay | null = null

  const prepare = async (from: FeedStart, listener: FeedListener): Promise<Replay | null> => {
    const scan = await usableScan(settings.file, from, listener, abort.signal)
    if (scan === null) return null
    const resolutionSeconds = resolutionSecondsOf(await firstTimesOf(settings.file, scan))
    return new Replay({
      path: settings.file,
      speed: settings.speed,
      resolutionSeconds: resolutionSeconds ?? settings.bar_seconds,
      scan,
      from,
      timer,
      listener,
      signal: abort.signal,
    })
  }

  return {
    name: 'file',
    producers: [],
    start: async (from, listener) => {
      if (starting !== null || abort.signal.aborted) throw new Error('a feed is started once')
      starting = prepare(from, listener)
      replay = await starting
      replay?.begin()
    },
    status: () => {
      const status = replay?.status() ?? IDLE
      return abort.signal.aborted ? { ...status, state: 'stopped' } : status
    },
    stop: async () => {
      abort.abort()
      // Why a start failed was told to whoever started it.
      await Promise.allSettled([starting])
      await replay?.ended()
    },
  }
}

const IDLE: FeedStatus = { state: 'idle', lastBarAtMs: null, clockOffsetMs: null, trouble: null }

/** More open files than that, and a window each, would cost more memory than the file deserves. */
const OVERLAP_MAX = 64

/** Null when aborted; throws, in words for the operator, when the file cannot be replayed. */
const usableScan = async (
  path: string,
  { symbols }: FeedStart,
  listener: FeedListener,
  signal: AbortSignal,
): Promise<Scan | null> => {
  if (path === '') throw new Error('market.file names no file')
  const universe = new Map(symbols.map((symbol) => [canonicalSymbol(symbol), symbol]))
  const complaints = createComplaints((message) => listener.onError(message), path)
  const scan = await scanFile(path, universe, complaints, signal).catch((error: unknown) => {
    throw readable(path, error)
  })
  if (scan === null) return null
  if (scan.symbols.size === 0) throw new Error(`${path}: no bar of ${symbols.join(', ')}`)
  if (overlapOf(scan.runs) > OVERLAP_MAX) throw new Error(`${path}: too far out of order; sort it by time`)
  if (scan.format.doubled.length > 0) {
    listener.onError(`${path}: not read, as another venue comes first: ${scan.format.doubled.join(', ')}`)
  }
  const missing = symbols.filter((symbol) => !scan.symbols.has(symbol))
  if (missing.length > 0) listener.onError(`${path}: no bar of ${missing.join(', ')}`)
  return scan
}

/** Enough of them to see past gaps. */
const firstTimesOf = async (path: string, { format, runs }: Scan): Promise<readonly number[]> => {
  const times: number[] = []
  for await (const { ms } of inOrder(path, format, runs)) {
    times.push(ms)
    if (times.length === TIMES_MAX) break
  }
  return times
}

const TIMES_MAX = 1000

/** What the system says of a file names the call that failed, not the setting. */
const readable = (path: string, error: unknown): unknown =>
  error instanceof Error && 'syscall' in error
    ? new Error(`market.file ${path} cannot be read: ${error.message}`, { cause: error })
    : error
