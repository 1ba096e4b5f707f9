import { resolve } from 'node:path'
import { describeFile } from '../adapters/feeds/file/file-feed.ts'
import { createSystemClock } from '../adapters/platform/clock/system-clock.ts'
import { settingsForBars } from '../backtest/run-settings.ts'
import type { Configuration } from '../core/config/schema.ts'
import { timestampAt } from '../core/shared/time.ts'
import { ReplayTime } from '../engine/replay-time.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'

/** Decisions on the time of the bars in a file. */
export interface Replay {
  readonly time: ReplayTime
  readonly clock: Clock
  /** With what bars of their length need. */
  settings(given: Configuration): Configuration
}

/** The file cannot be replayed here. The message says why and what to do. */
export class ReplayRefusedError extends Error {
  override readonly name = 'ReplayRefusedError'
}

/** Time begins with the first bar, or goes on where the log of an earlier replay ends. */
export const openReplay = async (
  home: string,
  { market, universe }: Configuration,
  log: Pick<EventLog, 'head' | 'read'>,
): Promise<Replay> => {
  const settings = { ...market, file: resolve(home, market.file) }
  const { firstOpenMs, resolutionSeconds } = await describeFile(settings, universe.symbols).catch(refuse)
  const { seq, recordedAt } = await log.head()
  const reachedMs = seq === 0 ? firstOpenMs : Date.parse(recordedAt)
  if (reachedMs > firstOpenMs && !(await isOfReplay(log))) {
    throw new ReplayRefusedError(
      `the log of this home has events up to ${recordedAt}, and the bars of ${market.file} begin at ` +
        `${timestampAt(firstOpenMs)}. A file is replayed on the clock of its bars, and the times of a log never ` +
        'decrease: set SVC_HOME to a new folder for the replay.',
    )
  }
  const time = new ReplayTime(Math.max(firstOpenMs, reachedMs))
  const adapted = new WeakMap<Configuration, Configuration>()
  return {
    time,
    clock: createSystemClock(() => time.now()),
    settings: (given) => {
      const known = adapted.get(given) ?? settingsForBars(given, resolutionSeconds)
      adapted.set(given, known)
      return known
    },
  }
}

const refuse = (error: unknown): never => {
  throw new ReplayRefusedError(error instanceof Error ? error.message : String(error), { cause: error })
}

/** Whether the newest bar was recorded at its own time. Time may have passed since, in a gap between bars. */
const isOfReplay = async (log: Pick<EventLog, 'read'>): Promise<boolean> => {
  const [newest] = await log.read({ types: ['market.bar'], order: 'desc', limit: 1 })
  if (newest === undefined) return false
  const { feed, close_ts } = JSON.parse(newest.payload) as {
    readonly feed: string
    readonly close_ts: string
  }
  return feed === 'file' && close_ts === newest.recordedAt
}
