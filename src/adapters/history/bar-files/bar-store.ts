import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
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
import type { BarRange, BarStore, MergeReport, StoredSeries } from '../../../ports/bar-history.ts'
import { removeLeftOver } from '../../left-over-files.ts'
import { createBarMemory, type BarMemory } from './bar-memory.ts'
import { encodeBars, readBarFile, summaryOfBarFile } from './parquet-bars.ts'
import { withLock } from './series-lock.ts'

/**
 * `<folder>/bars/<venue>/<symbol>/<timeframe>/<year>-<month>.parquet`, and bars that were made of shorter ones below
 * `<folder>/resampled`, which may be deleted at any time.
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
        await replaceFile(made, fileOf(month), await encodeBars(longer, note))
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
      withLock(folderOf(name), async (assertHeld) => {
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

/** Of the files of one series, oldest first. */
const monthsOf = async (folder: string): Promise<readonly string[]> =>
  (await namesIn(folder)).flatMap((name) => FILE.exec(name)?.[1] ?? []).sort()

/** Sorted; none for a folder that is not there. */
const namesIn = async (folder: string): Promise<readonly string[]> => {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

/** What others put between our folders is left alone. */
const seriesIn = async (root: string): Promise<readonly SeriesName[]> => {
  const series: SeriesName[] = []
  for (const venue of (await namesIn(root)).filter((name) => venueName(name) === name)) {
    const symbols = (await namesIn(join(root, venue))).filter((name) => seriesSymbol(name, venue) === name)
    for (const symbol of symbols) {
      for (const timeframe of await namesIn(join(root, venue, symbol))) {
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

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw error
    },
  )

const DRAFT = /^\.\d{4}-\d{2}\.parquet\.[\w-]+\.partial$/

/** A crash leaves the file as it was, or as it is to be. */
const replaceFile = async (folder: string, name: string, bytes: Uint8Array): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeLeftOver(folder, DRAFT)
  const draft = join(folder, `.${name}.${randomUUID()}.partial`)
  try {
    const handle = await open(draft, 'w', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, join(folder, name))
  } finally {
    await rm(draft, { force: true })
  }
}

const hashOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')

/** A damaged or missing file is made again. */
const isMadeOf = async (path: string, note: string): Promise<boolean> =>
  (await exists(path)) &&
  (await summaryOfBarFile(path).then(
    (summary) => summary.note === note,
    () => false,
  ))
