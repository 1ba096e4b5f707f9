import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { createBarStore } from '../adapters/history/bar-files/bar-store.ts'
import { WARM_UP_BARS } from '../backtest/run.ts'
import type { Window } from '../backtest/sweep/splits.ts'
import type { BacktestTask } from '../backtest/sweep/task.ts'
import type { Configuration } from '../core/config/schema.ts'
import { selectSeries } from '../core/market/history/select.ts'
import { seriesText } from '../core/market/history/series.ts'
import type { StoredSeries } from '../ports/bar-history.ts'
import { Failure } from '../surfaces/cli/failure.ts'
import { simulatedRange } from './backtest.ts'
import { codeHash } from './code-hash.ts'
import { historyFolder } from './history.ts'

/**
 * Data of a task: the range that it can trade, and a hash of its bars. The range is null if it is not known in advance.
 */
export interface TaskData {
  readonly range: Window | null
  /** Null for the log, which grows. */
  readonly hash: string | null
}

export const taskDataOf = async (
  task: BacktestTask,
  configuration: Configuration,
  home: string,
): Promise<TaskData> => {
  const { range, hash } = await barsOf(task, configuration, home)
  // The user's code affects results as the bars do.
  const code = hash === null ? null : await codeHash(task.strategy, home)
  return { range, hash: code === null ? hash : `${hash}:${code}` }
}

const barsOf = async (task: BacktestTask, { ta, market }: Configuration, home: string): Promise<TaskData> => {
  const { fromMs, toMs, data, isFromLog, file } = task
  if (data.length > 0) {
    const chosen = await chosenSeries(task, home)
    const firstMs = Math.max(...chosen.map(({ firstOpenMs }) => firstOpenMs))
    const lastMs = Math.min(...chosen.map(({ lastOpenMs, seconds }) => lastOpenMs + seconds * 1000))
    const seconds = Math.max(ta.bar_seconds, ...data.map((selector) => selector.seconds ?? 0))
    const warmMs = firstMs + WARM_UP_BARS * seconds * 1000
    const range = { fromMs: Math.max(fromMs ?? warmMs, warmMs), toMs: Math.min(toMs ?? lastMs, lastMs) }
    if (range.fromMs >= range.toMs) {
      throw new Failure('backtest.no_bars', 'no bars to trade on: the first 200 analysis bars only warm up', {
        advice: 'Give it more: a longer time, or shorter bars.',
      })
    }
    return { range, hash: await hashOf(chosen) }
  }
  if (!isFromLog && file === undefined && market.feed !== 'file')
    return { range: simulatedRange(task), hash: 'simulated' }
  const hash = isFromLog ? null : await fileHash(file ?? resolve(home, market.file))
  return { range: fromMs === null || toMs === null ? null : { fromMs, toMs }, hash }
}

/** The stored series that are read, including those whose bars are combined into longer ones. */
const chosenSeries = async ({ data }: BacktestTask, home: string): Promise<readonly StoredSeries[]> => {
  const stored = await createBarStore(historyFolder(home)).list()
  return data.map((selector) => {
    const found = selectSeries(stored, selector)
    const series =
      found.status === 'missing'
        ? undefined
        : stored.find((one) => seriesText(one) === seriesText(found.source))
    if (series !== undefined) return series
    const reason = found.status === 'missing' ? found.reason : 'it is gone'
    throw new Failure('data.not_found', reason, { advice: 'See "svc data list".' })
  })
}

/** Hash of the series. It is the same on every machine that has the same files. */
const hashOf = async (chosen: readonly StoredSeries[]): Promise<string> => {
  const hash = createHash('sha256')
  for (const series of chosen) {
    for (const file of series.files) {
      hash.update(`${seriesText(series)}/${basename(file)}\n`).update(await readFile(file))
    }
  }
  return hash.digest('hex')
}

const fileHash = async (file: string): Promise<string> => {
  try {
    return createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    throw new Failure('file.unreadable', `the file of the bars cannot be read (${code})`)
  }
}
