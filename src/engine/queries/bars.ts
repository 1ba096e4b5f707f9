import { symbolRef } from '../../core/log/refs.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { viewBar, type BarView } from '../../core/views/market.ts'
import type { EventLog, LogQuery } from '../../ports/event-log.ts'
import type { Reader } from './trading-records.ts'

export const BARS_MAX = 1000

export interface BarQuery {
  /** All symbols without it. */
  readonly symbol?: string | undefined
  /** Bars that open at this time or later, and before the other. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly limit: number
}

/** Stored bars, newest first; null for a symbol without any. */
export const storedBars = async (
  reader: Reader,
  { symbol, from, to, limit }: BarQuery,
): Promise<readonly BarView[] | null> => {
  const which = symbol === undefined ? { types: BAR_TYPES } : await barsOfSymbol(reader, symbol)
  if (which === null) return null
  const before = to === undefined ? undefined : await firstSeqAt(reader.log, which, to)
  const records = await reader.log.read({
    ...which,
    ...(before === undefined ? {} : { before }),
    order: 'desc',
    limit,
  })
  return records
    .flatMap((record) => viewBar(record) ?? [])
    .filter(({ open_ts }) => (from === undefined || open_ts >= from) && (to === undefined || open_ts < to))
}

const BAR_TYPES = ['market.bar']

/** In whatever spelling it is asked for. */
const barsOfSymbol = async (
  reader: Reader,
  symbol: string,
): Promise<Pick<LogQuery, 'about' | 'types'> | null> => {
  const { market } = await reader.fresh()
  const known = market.symbols.get(canonicalSymbol(symbol))
  return known === undefined ? null : { about: symbolRef(known.last.symbol), types: BAR_TYPES }
}

/**
 * Behind every bar that opens before this time. Bars of a symbol stand in the log in the order of time, so that halving
 * finds the place with a few reads, however long the log is.
 */
const firstSeqAt = async (
  log: EventLog,
  which: Pick<LogQuery, 'about' | 'types'>,
  time: string,
): Promise<number> => {
  let low = 0
  let high = (await log.head()).seq
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await log.read({ ...which, after: middle, order: 'asc', limit: 1 })
    const bar = record === undefined ? null : viewBar(record)
    if (record === undefined || bar === null || bar.open_ts >= time) high = middle
    else low = record.seq
  }
  return high + 1
}
