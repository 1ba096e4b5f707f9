import type { Configuration } from '../../../core/config/schema.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { deliverBars, IDLE, startedOnce, type RunningFeed } from '../../feed.ts'
import {
  overlapOf,
  readByTime,
  scanFile,
  type NumberedBar,
  type Scan,
  type TimeGroup,
} from './sorted-bars.ts'

interface FileFeedDependencies {
  readonly settings: Pick<Configuration['market'], 'file' | 'speed' | 'bar_seconds'>
  readonly timer: Timer
  /** Length of the past at the beginning of the file. Its bars are delivered at once and not traded. */
  readonly historySeconds?: number
}

/** Replays recorded bars at the configured speed. */
export const createFileFeed = (dependencies: FileFeedDependencies): MarketFeed =>
  startedOnce({ name: 'file', producers: [] }, (from, listener) => openReplay(dependencies, from, listener))

const openReplay = (
  { settings, timer, historySeconds = 0 }: FileFeedDependencies,
  from: FeedStart,
  listener: FeedListener,
): RunningFeed => {
  const { file: path, speed } = settings
  const abort = new AbortController()
  const { signal } = abort
  let replay: Replay | null = null

  const prepare = async (): Promise<void> => {
    const scan = await scanOrThrow(path, from, listener, signal)
    if (scan === null) return
    const resolutionSeconds = (await resolutionIn(path, scan)) ?? settings.bar_seconds
    const tradedFromMs = firstOpenMsOf(scan) + historySeconds * 1000
    replay = startReplay({
      path,
      speed,
      resolutionSeconds,
      scan,
      from,
      timer,
      listener,
      signal,
      tradedFromMs,
    })
  }

  const started = prepare()
  return {
    started,
    status: () => {
      const status = replay?.status() ?? IDLE
      return signal.aborted ? { ...status, state: 'stopped' } : status
    },
    stop: async () => {
      abort.abort()
      // The caller of `start` got the error of a failed start.
      await Promise.allSettled([started])
      await replay?.ended
    },
  }
}

/** Start time and length of the bars of these symbols. Throws when the file cannot be replayed. */
export const describeFile = async (
  { file: path, bar_seconds }: FileFeedDependencies['settings'],
  symbols: readonly string[],
): Promise<{ readonly firstOpenMs: number; readonly resolutionSeconds: number }> => {
  // Errors in rows are reported during the replay.
  const listener = { onBars: () => Promise.resolve(), onTick: () => undefined, onError: () => undefined }
  const { signal } = new AbortController()
  const scan = await scanOrThrow(path, { symbols, segment: 1, lastBars: new Map() }, listener, signal)
  if (scan === null) throw new Error(`${path}: it was not read to its end`)
  return {
    firstOpenMs: firstOpenMsOf(scan),
    resolutionSeconds: (await resolutionIn(path, scan)) ?? bar_seconds,
  }
}

/** Runs are ordered by their earliest time. */
const firstOpenMsOf = ({ runs }: Scan): number => runs[0]?.minMs ?? 0

/** Each run needs an open file and a window in memory. */
const OVERLAP_MAX = 64

/** Null when aborted; throws when the file cannot be replayed. */
const scanOrThrow = async (
  path: string,
  { symbols }: FeedStart,
  listener: FeedListener,
  signal: AbortSignal,
): Promise<Scan | null> => {
  if (path === '') throw new Error('market.file is empty: set it to the path of a file with bars')
  const universe = new Map(symbols.map((symbol) => [canonicalSymbol(symbol), symbol]))
  const faults = createFaultReports(listener, path)
  const scan = await scanFile(path, universe, faults.add, signal).catch((error: unknown) => {
    // System errors name the failed call, not the setting.
    const isSystemError = error instanceof Error && 'syscall' in error
    throw isSystemError
      ? new Error(`market.file ${path} cannot be read: ${error.message}`, { cause: error })
      : error
  })
  if (scan === null) return null
  faults.end()
  if (scan.symbols.size === 0) throw new Error(`${path}: no bars of ${symbols.join(', ')}`)
  if (overlapOf(scan.runs) > OVERLAP_MAX) throw new Error(`${path}: too far out of order: sort it by time`)
  const { ignored } = scan.format
  if (ignored.length > 0) {
    listener.onError(`${path}: ignored, since another venue has the same symbol: ${ignored.join(', ')}`)
  }
  const missing = symbols.filter((symbol) => !scan.symbols.has(symbol))
  if (missing.length > 0) listener.onError(`${path}: no bars of ${missing.join(', ')}`)
  return scan
}

/** Reports the first faults one by one and the rest as a number: a broken file must not flood the log. */
const createFaultReports = (listener: FeedListener, path: string) => {
  let count = 0
  return {
    add: (line: number, fault: string): void => {
      count += 1
      if (count <= FAULTS_MAX) listener.onError(`${path} line ${line}: ${fault}`)
    },
    end: (): void => {
      if (count > FAULTS_MAX) listener.onError(`${path}: ${count - FAULTS_MAX} more faults like these`)
    },
  }
}

const FAULTS_MAX = 10

/**
 * Length of a bar: the most frequent distance between the first times. Null if no distance is a whole number of
 * seconds.
 */
const resolutionIn = async (path: string, { format, runs }: Scan): Promise<number | null> => {
  const counts = new Map<number, number>()
  let lastMs: number | null = null
  let times = 0
  for await (const { ms } of readByTime(path, format, runs)) {
    const distanceMs = ms - (lastMs ?? ms)
    if (distanceMs > 0 && distanceMs % 1000 === 0) counts.set(distanceMs, (counts.get(distanceMs) ?? 0) + 1)
    lastMs = ms
    times += 1
    if (times === TIMES_MAX) break
  }
  // Among equally frequent distances the shortest is used: the others may be gaps.
  const [first] = [...counts].sort(([oneMs, one], [otherMs, other]) => other - one || oneMs - otherMs)
  return first === undefined ? null : first[0] / 1000
}

/** Enough to see past gaps. */
const TIMES_MAX = 1000

interface ReplayOptions {
  readonly path: string
  readonly speed: number
  readonly resolutionSeconds: number
  readonly scan: Scan
  readonly from: FeedStart
  readonly timer: Timer
  readonly listener: FeedListener
  readonly signal: AbortSignal
  /** Bars that open earlier belong to the past. */
  readonly tradedFromMs: number
}

interface Replay {
  readonly ended: Promise<void>
  status(): FeedStatus
}

/** Delivers the bars of a scanned file after the stored ones, oldest first. */
const startReplay = (options: ReplayOptions): Replay => {
  const { path, scan, speed, timer, listener, signal, resolutionSeconds } = options
  const faults = createFaultReports(listener, path)
  let state: FeedStatus['state'] = 'running'
  let lastBarAtMs: number | null = null
  let error: string | null = null

  const onFailure = (message: string): void => {
    if (error !== message) listener.onError(message)
    error = message
  }

  const deliverAll = async (): Promise<void> => {
    const newBarsOf = createBarFilter(options, faults.add)
    const pace = createPace(speed)
    for await (const group of readByTime(path, scan.format, scan.runs)) {
      if (signal.aborted) return
      const bars = newBarsOf(group)
      if (bars.length === 0) continue
      const closeMs = group.ms + resolutionSeconds * 1000
      const isPast = group.ms < options.tradedFromMs
      const waitMs = isPast ? 0 : pace.waitMs(closeMs, timer.now())
      // Even a wait of 0 takes a millisecond, which is more than the time per bar at high speed.
      if (waitMs > 0) await timer.wait(waitMs, signal)
      if (!(await deliverBars(bars, { listener, timer, signal, onFailure }))) return
      lastBarAtMs = closeMs
      error = null
    }
  }

  const run = async (): Promise<void> => {
    try {
      await deliverAll()
    } catch (cause) {
      // The file is missing, or the disk fails.
      onFailure(
        `the replay of ${path} ended early: ${cause instanceof Error ? cause.message : String(cause)}`,
      )
      return
    }
    faults.end()
    state = 'ended'
  }

  return {
    ended: run(),
    status: () => ({
      state: error !== null && state === 'running' ? 'failing' : state,
      lastBarAtMs,
      clockOffsetMs: null,
      error,
    }),
  }
}

/** Bars of one time that are not stored yet, each symbol once. */
const createBarFilter = (
  { from, resolutionSeconds, tradedFromMs }: ReplayOptions,
  onFault: (line: number, fault: string) => void,
): ((group: TimeGroup<NumberedBar>) => readonly FeedBar[]) => {
  const storedUntilMs = new Map(
    [...from.lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), Date.parse(bar.close_ts)]),
  )
  return ({ ms, items }) => {
    const isNew = ({ bar }: NumberedBar): boolean =>
      ms >= (storedUntilMs.get(canonicalSymbol(bar.symbol)) ?? Number.NEGATIVE_INFINITY)
    const bySymbol = new Map<string, NumberedBar>()
    for (const item of items.filter(isNew)) {
      const { line, bar } = item
      const earlier = bySymbol.get(bar.symbol)
      if (earlier === undefined) bySymbol.set(bar.symbol, item)
      else if (JSON.stringify(earlier.bar) !== JSON.stringify(bar)) {
        onFault(line, `${bar.symbol}: differs from line ${earlier.line}, which is used`)
      }
    }
    const [first] = bySymbol.values()
    if (first !== undefined && ms % (resolutionSeconds * 1000) !== 0) {
      onFault(first.line, `${textOf(ms)} is not a multiple of ${resolutionSeconds} seconds`)
      return []
    }
    const times = {
      resolution_s: resolutionSeconds,
      open_ts: textOf(ms),
      close_ts: textOf(ms + resolutionSeconds * 1000),
    }
    return [...bySymbol.values()].map(({ bar: { symbol, ...values } }) => ({
      symbol,
      ...times,
      ...values,
      backfill: ms < tradedFromMs,
    }))
  }
}

const textOf = (ms: number): string => new Date(ms).toISOString()

/** Computes when each bar of a replay is due. */
export interface Pace {
  /** Time to wait before delivering an event of `fileMs`. */
  waitMs(fileMs: number, nowMs: number): number
}

export const createPace = (speed: number): Pace => {
  let anchor: { readonly fileMs: number; readonly nowMs: number } | null = null
  let lastFileMs = 0
  return {
    waitMs: (fileMs, nowMs) => {
      const distanceMs = (fileMs - lastFileMs) / speed
      lastFileMs = fileMs
      anchor ??= { fileMs, nowMs }
      const leftMs = anchor.nowMs + (fileMs - anchor.fileMs) / speed - nowMs
      if (leftMs >= -LATE_MS_MAX && leftMs <= distanceMs + LATE_MS_MAX) return Math.max(0, leftMs)
      // The machine slept, storing was slow or the clock was set: continues from here, without a burst or a halt.
      anchor = { fileMs, nowMs }
      return 0
    },
  }
}

const LATE_MS_MAX = 5000
