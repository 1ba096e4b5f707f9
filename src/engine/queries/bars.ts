import { symbolRef } from '../../core/log/refs.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { viewBar, type BarView } from '../../core/views/market.ts'
import type { LogQuery } from '../../ports/event-log.ts'
import { firstSeqWhere } from './first-seq-from.ts'
import type { Reader } from './trading-records.ts'

export const BARS_MAX = 1000

export interface BarsRequest {
  /** Default: all symbols. */
  readonly symbol?: string | undefined
  /** Bars that open at `from` or later, and before `to`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly limit: number
}

/** Stored bars, newest first; null for a symbol without any. */
export const storedBars = async (
  reader: Reader,
  { symbol, from, to, limit }: BarsRequest,
): Promise<readonly BarView[] | null> => {
  const which = symbol === undefined ? { types: BAR_TYPES } : await barsOfSymbol(reader, symbol)
  if (which === null) return null
  const before =
    to === undefined
      ? undefined
      : await firstSeqWhere(reader.log, which, (record) => (viewBar(record)?.open_ts ?? to) >= to)
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

/** Bars of a symbol in any spelling. */
const barsOfSymbol = async (
  reader: Reader,
  symbol: string,
): Promise<Pick<LogQuery, 'about' | 'types'> | null> => {
  const { market } = await reader.fresh()
  const known = market.symbols.get(canonicalSymbol(symbol))
  return known === undefined ? null : { about: symbolRef(known.last.symbol), types: BAR_TYPES }
}
