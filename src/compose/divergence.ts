import { divergenceOf, type DivergenceReport, type TimeRange } from '../backtest/divergence.ts'
import { LogFeed } from '../backtest/log-feed.ts'
import { backtest, NoBarsError } from '../backtest/run.ts'
import { TradeBook } from '../backtest/trade-book.ts'
import { configurationFrom } from '../core/config/recorded.ts'
import type { Configuration } from '../core/config/schema.ts'
import { stampedFrom } from '../core/log/event.ts'
import { payloadOf } from '../core/log/payload.ts'
import type { PastPoint } from '../core/shared/as-of.ts'
import { readPages } from '../engine/read-pages.ts'
import type { EventLog } from '../ports/event-log.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { DivergenceRequest } from '../surfaces/cli/dependencies.ts'
import { Failure, UsageError } from '../surfaces/cli/failure.ts'

/** Replays the inputs of the log and compares what came of them with what really happened. Writes nothing. */
export const runDivergence = async (
  present: Configuration,
  { from, to, onError, onProgress }: DivergenceRequest,
  { log, version }: { readonly log: Pick<EventLog, 'read' | 'head'>; readonly version: string },
): Promise<DivergenceReport> => {
  const range = await rangeOf(log, from, to)
  const recorded = await firstSettings(log)
  const settings = recorded ?? present
  const [first] = await log.read({ types: ['market.bar'], order: 'asc', limit: 1 })
  const [last] = await log.read({ types: ['market.bar'], order: 'desc', limit: 1 })
  const firstMs = Date.parse(first?.ts ?? '') || 0
  const lastMs = Date.parse(last?.ts ?? '') || 0
  const replayed = new TradeBook()
  const result = await backtest({
    strategy: 'brain',
    feed: new LogFeed(log, settings.brain.cycle_deadline_seconds * 1000),
    // The log also holds the signals of the producers.
    producers: [],
    settings,
    version,
    fromMs: null,
    toMs: null,
    resetsDaily: false,
    onError,
    onTime: (nowMs) => onProgress(Math.min(nowMs, lastMs) - firstMs, Math.max(1, lastMs - firstMs)),
    onEvents: (events) => {
      for (const event of events) replayed.take(event)
    },
  }).catch((error: unknown) => {
    throw error instanceof NoBarsError ? new Failure('backtest.no_bars', error.message) : error
  })
  replayed.end()
  const { firstOpenMs: fromMs, lastCloseMs: toMs } = result
  const live = await liveBook(log)
  const toleranceMs = 1000 * (settings.brain.cycle_interval_seconds + 2 * (result.resolutionSeconds ?? 0))
  return divergenceOf({
    live,
    replayed,
    toleranceMs,
    settings: recorded === null ? 'current' : 'recorded',
    fromMs,
    toMs,
    range,
  })
}

/** Undefined without either end. Refused where nothing can lie in it. */
const rangeOf = async (
  log: Pick<EventLog, 'read' | 'head'>,
  from: PastPoint | undefined,
  to: PastPoint | undefined,
): Promise<TimeRange | undefined> => {
  if (from === undefined && to === undefined) return undefined
  const range = {
    fromMs: from === undefined ? 0 : await msOf(log, from),
    toMs: to === undefined ? Infinity : await msOf(log, to),
  }
  // Events of one batch have one time.
  const isTurned = from?.kind === 'seq' && to?.kind === 'seq' && from.seq > to.seq
  if (isTurned || range.fromMs > range.toMs) throw new UsageError('--from comes after --to')
  return range
}

const msOf = async (log: Pick<EventLog, 'read' | 'head'>, point: PastPoint): Promise<number> => {
  if (point.kind === 'time') return Date.parse(point.time)
  const [record] = await log.read({ after: point.seq - 1, order: 'asc', limit: 1 })
  if (record?.seq === point.seq) return Date.parse(record.recordedAt)
  const { seq } = await log.head()
  throw new UsageError(`there is no event ${point.seq}: the log has 1 to ${seq}`)
}

/** The replay keeps to the settings with which the log began: later ones are a reason for differences. */
const firstSettings = async (log: Pick<EventLog, 'read'>): Promise<Configuration | null> => {
  const [started] = await log.read({ types: ['system.started'], order: 'asc', limit: 1 })
  return started === undefined ? null : configurationFrom(payloadOf(started)?.['configuration'])
}

const PAGE = 500

const liveBook = async (log: Pick<EventLog, 'read'>): Promise<TradeBook> => {
  const book = new TradeBook()
  for await (const page of readPages(log, { types: LIVE_TYPES, order: 'asc', limit: PAGE })) {
    for (const record of page) if (payloadOf(record) !== null) book.take(stampedFrom(record))
    await yieldToEventLoop()
  }
  book.end()
  return book
}

const LIVE_TYPES = [
  'brain.cycle',
  'execution',
  'market.bar',
  'system.config_changed',
  'system.kill_switch',
  'system.started',
] as const
