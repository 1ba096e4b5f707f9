import { createHash } from 'node:crypto'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { mergeBars } from '../../../core/market/history/merge.ts'
import { resample } from '../../../core/market/history/resample.ts'
import {
  monthOf,
  monthRange,
  seriesSymbol,
  timeframeSeconds,
  timeframeText,
  venueName,
  type HistoryBar,
  type SeriesName,
} from '../../../core/market/history/series.ts'
import {
  HistoryError,
  type BarRange,
  type BarStore,
  type MergeReport,
  type StoredSeries,
} from '../../../ports/bar-history.ts'
import { withFileLock, type HeldLock } from '../../file-lock.ts'
import { exists, namesIn, orNull, removeLeftOver, withDraft } from '../../files.ts'
import { createBarMemory, type BarMemory } from './bar-memory.ts'
import { encodeBars, readBarFile, summaryOfBarFile } from './parquet-bars.ts'

/**
 * Files are `<folder>/bars/<venue>/<symbol>/<timeframe>/<year>-<month>.parquet`. Bars that were made of shorter ones
 * are below `<folder>/resampled`, which may be deleted at any time.
 */
export const createBarStore = (folder: string, memory: BarMemory = createBarMemory(0)): BarStore => {
  const folderOf = ({ venue, symbol, seconds }: SeriesName): string =>
    join(folder, 'bars', venue, symbol, timeframeText(seconds))

  async function* read(name: SeriesName, range: BarRange = {}): AsyncGenerator<readonly HistoryBar[]> {
    for (const month of monthsIn(await monthsOf(folderOf(name)), range)) {
      const path = join(folderOf(name), fileOf(month))
      const bars = within(await memory.bars.valueOf(path, 'bars', () => readBarFile(path)), range)
      if (bars.length > 0) yield bars
    }
  }

  async function* readResampled(
    source: SeriesName,
    toSeconds: number,
    range: BarRange = {},
  ): AsyncGenerator<readonly HistoryBar[]> {
    const months = await monthsOf(folderOf(source))
    const made = join(folder, 'resampled', source.venue, source.symbol, timeframeText(toSeconds))
    for (const month of monthsIn(months, range)) {
      const path = join(folderOf(source), fileOf(month))
      const [isBeginning, isEnd] = [month === months[0], month === months.at(-1)]
      const make = async (): Promise<readonly HistoryBar[]> => {
        const note = `${timeframeText(source.seconds)} ${isBeginning} ${isEnd} ${await hashOf(path)}`
        const kept = join(made, fileOf(month))
        if (await isMadeOf(kept, note)) return readBarFile(kept)
        const rules = { fromSeconds: source.seconds, toSeconds, isBeginning, isEnd }
        const longer = resample(await readBarFile(path), rules)
        // A process that runs code of the user can write nothing, and makes them again for each run.
        await orNull('ERR_ACCESS_DENIED', replaceFile(made, fileOf(month), await encodeBars(longer, note)))
        return longer
      }
      const name = `${toSeconds} ${isBeginning} ${isEnd}`
      const wanted = within(await memory.bars.valueOf(path, name, make), range)
      if (wanted.length > 0) yield wanted
    }
  }

  return {
    list: async () => {
      const series: StoredSeries[] = []
      for (const name of await seriesIn(join(folder, 'bars'))) {
        const summary = await summaryOf(folderOf(name), memory)
        if (summary !== null) series.push({ ...name, ...summary })
      }
      return series
    },
    read,
    readResampled,
    merge: (name, bars, options) =>
      withSeriesLock(folderOf(name), async (assertHeld) => {
        const reports: MergeReport[] = []
        for (const [month, given] of byMonth(bars)) {
          const path = join(folderOf(name), fileOf(month))
          const stored = (await exists(path)) ? await readBarFile(path) : []
          const merged = mergeBars(stored, given, options)
          if (merged.added + merged.replaced > 0) {
            const bytes = await encodeBars(merged.bars, 'bars')
            await assertHeld()
            await replaceFile(folderOf(name), fileOf(month), bytes)
          }
          reports.push(merged)
        }
        return totalOf(reports)
      }),
  }
}

export const totalOf = (reports: readonly MergeReport[]): MergeReport => {
  const sum = (member: 'added' | 'replaced' | 'repeated'): number =>
    reports.reduce((total, report) => total + report[member], 0)
  return {
    added: sum('added'),
    replaced: sum('replaced'),
    repeated: sum('repeated'),
    conflicts: reports.flatMap(({ conflicts }) => conflicts),
  }
}

const FILE = /^(\d{4}-(?:0[1-9]|1[0-2]))\.parquet$/

const fileOf = (month: string): string => `${month}.parquet`

const within = (bars: readonly HistoryBar[], { fromMs, toMs }: BarRange): readonly HistoryBar[] =>
  bars.filter(
    ({ openMs }) => (fromMs === undefined || openMs >= fromMs) && (toMs === undefined || openMs < toMs),
  )

const monthsIn = (months: readonly string[], range: BarRange): readonly string[] =>
  months.filter((month) => {
    const { fromMs, toMs } = monthRange(month)
    return (
      (range.fromMs === undefined || toMs > range.fromMs) && (range.toMs === undefined || fromMs < range.toMs)
    )
  })

/** Months of the files of one series, oldest first. */
const monthsOf = async (folder: string): Promise<readonly string[]> =>
  (await namesIn(folder)).flatMap((name) => FILE.exec(name)?.[1] ?? []).sort()

const sortedIn = async (folder: string): Promise<readonly string[]> => (await namesIn(folder)).toSorted()

/** Series in the folder. Folders with other names are ignored. */
const seriesIn = async (root: string): Promise<readonly SeriesName[]> => {
  const series: SeriesName[] = []
  for (const venue of (await sortedIn(root)).filter((name) => venueName(name) === name)) {
    const symbols = (await sortedIn(join(root, venue))).filter((name) => seriesSymbol(name, venue) === name)
    for (const symbol of symbols) {
      for (const timeframe of await sortedIn(join(root, venue, symbol))) {
        const seconds = timeframeSeconds(timeframe)
        if (seconds !== null && timeframeText(seconds) === timeframe) series.push({ venue, symbol, seconds })
      }
    }
  }
  return series
}

const summaryOf = async (
  folder: string,
  memory: BarMemory,
): Promise<Omit<StoredSeries, keyof SeriesName> | null> => {
  const files = (await monthsOf(folder)).map((month) => join(folder, fileOf(month)))
  const [first, last] = [files[0], files.at(-1)]
  if (first === undefined || last === undefined) return null
  const summaries = await Promise.all(
    files.map((file) => memory.summaries.valueOf(file, 'summary', () => summaryOfBarFile(file))),
  )
  const firstOpenMs = summaries[0]?.firstOpenMs ?? (await readBarFile(first)).at(0)?.openMs
  const lastOpenMs = summaries.at(-1)?.lastOpenMs ?? (await readBarFile(last)).at(-1)?.openMs
  if (firstOpenMs === undefined || lastOpenMs === undefined) return null
  return {
    bars: summaries.reduce((sum, { bars }) => sum + bars, 0),
    bytes: summaries.reduce((sum, { bytes }) => sum + bytes, 0),
    firstOpenMs,
    lastOpenMs,
    files,
  }
}

const byMonth = (bars: readonly HistoryBar[]): ReadonlyMap<string, readonly HistoryBar[]> => {
  const months = new Map<string, HistoryBar[]>()
  for (const bar of bars) {
    const month = monthOf(bar.openMs)
    const group = months.get(month)
    if (group === undefined) months.set(month, [bar])
    else group.push(bar)
  }
  return months
}

/** Names of drafts, including those of earlier versions. */
const DRAFT = /^\.\d{4}-\d{2}\.parquet\.[\w-]+\.(?:tmp|partial)$/

/** A crash leaves either the old file or the new one. */
const replaceFile = async (folder: string, name: string, bytes: Uint8Array): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeLeftOver(folder, DRAFT)
  const path = join(folder, name)
  await withDraft(path, bytes, (draft) => rename(draft, path))
}

/**
 * Runs while no other process changes the files of this folder. Two processes that read, merge and write at the same
 * time would lose the bars of one. `assertHeld` throws if the lock was taken over, for example while this process
 * slept: the caller must then write nothing more.
 */
export const withSeriesLock = async <T>(
  folder: string,
  run: (assertHeld: () => Promise<void>) => Promise<T>,
  waitMsMax?: number,
): Promise<T> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, '.lock')
  const heldError = (): Error =>
    new HistoryError(`${folder} is being written by another process: try again later, or remove ${path}`)
  const locked = ({ isStillOurs }: HeldLock): Promise<T> =>
    run(async () => {
      if (!(await isStillOurs())) throw heldError()
    })
  return withFileLock(path, locked, { heldError, ...(waitMsMax !== undefined && { waitMsMax }) })
}

const hashOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

/** False for a damaged or missing file, so that it is made again. */
const isMadeOf = async (path: string, note: string): Promise<boolean> =>
  (await exists(path)) &&
  (await summaryOfBarFile(path).then(
    (summary) => summary.note === note,
    () => false,
  ))
