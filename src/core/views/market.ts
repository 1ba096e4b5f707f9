import { z } from 'zod'
import type { Configuration } from '../config/schema.ts'
import { payloadOf } from '../log/payload.ts'
import type { LogRecord } from '../log/event.ts'
import { markOf } from '../market/readings.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { CanonicalSymbol } from '../shared/brand.ts'
import { priceNumber } from '../shared/money.ts'
import { timestampAt } from '../shared/time.ts'
import { priceTrustOf } from '../signals/prices.ts'
import type { State } from '../state.ts'
import { numberOrNull, textOrNull } from './members.ts'

export const marketSymbolView = z.object({
  symbol: z.string(),
  in_universe: z.boolean().meta({ description: 'whether it is traded' }),
  bar_seconds: numberOrNull.meta({ description: 'length of its newest bar; null without one' }),
  last_open_ts: textOrNull,
  last_close_ts: textOrNull,
  last_close: numberOrNull,
})

export type MarketSymbolView = z.infer<typeof marketSymbolView>

export const priceView = z.object({
  symbol: z.string(),
  price: numberOrNull.meta({ description: 'what decisions are made on; null without a recent one' }),
  as_of: textOrNull,
  last_close: numberOrNull.meta({ description: 'of the newest bar, however old' }),
  last_close_ts: textOrNull,
})

export type PriceView = z.infer<typeof priceView>

export const barView = z.object({
  symbol: z.string(),
  resolution_s: z.number(),
  open_ts: z.string(),
  close_ts: z.string(),
  open: z.number(),
  high: z.number(),
  low: z.number(),
  close: z.number(),
  volume: z.number(),
  quote_volume: z.number(),
  backfill: z.boolean().meta({ description: 'history that no decision was made on' }),
})

export type BarView = z.infer<typeof barView>

/** Symbols of the universe, in its spelling, and other symbols with bars. */
const symbolsIn = ({ market }: Pick<State, 'market'>, { universe }: Configuration): readonly string[] => {
  const known = new Map<CanonicalSymbol, string>(
    universe.symbols.map((name) => [canonicalSymbol(name), name]),
  )
  for (const [key, { last }] of market.symbols) if (!known.has(key)) known.set(key, last.symbol)
  return [...known.values()]
}

export const viewSymbols = (
  state: Pick<State, 'market'>,
  configuration: Configuration,
): readonly MarketSymbolView[] => {
  const traded = new Set(configuration.universe.symbols)
  return symbolsIn(state, configuration).map((symbol) => {
    const last = state.market.symbols.get(canonicalSymbol(symbol))?.last
    return {
      symbol,
      in_universe: traded.has(symbol),
      bar_seconds: last?.resolution_s ?? null,
      last_open_ts: last?.open_ts ?? null,
      last_close_ts: last?.close_ts ?? null,
      last_close: last === undefined ? null : priceNumber(last.close),
    }
  })
}

export const viewPrices = (
  state: Pick<State, 'market' | 'signals'>,
  configuration: Configuration,
  nowMs: number,
): readonly PriceView[] => {
  const trust = priceTrustOf(state, configuration)
  return symbolsIn(state, configuration).map((symbol) => {
    const key = canonicalSymbol(symbol)
    const mark = markOf(state.market, key, nowMs, trust)
    const last = state.market.symbols.get(key)?.last
    return {
      symbol,
      price: mark === null ? null : priceNumber(mark.price),
      as_of: mark === null ? null : timestampAt(mark.atMs),
      last_close: last === undefined ? null : priceNumber(last.close),
      last_close_ts: last?.close_ts ?? null,
    }
  })
}

/** Returns null for a record without a bar. */
export const viewBar = (record: LogRecord): BarView | null =>
  barView.safeParse(payloadOf(record)).data ?? null
