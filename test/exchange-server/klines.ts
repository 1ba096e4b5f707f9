import { priceAt, exchangeNow, type ExchangeState } from './exchange-state.ts'

export interface KlineQuery {
  readonly base: string
  readonly intervalMs: number
  readonly startMs: number | null
  readonly limit: number
}

/** Candles as Binance returns them: the last one is not finished. */
export const klinesOf = (
  world: ExchangeState,
  { base, intervalMs, startMs, limit }: KlineQuery,
): readonly Kline[] => {
  const currentMs = Math.floor(exchangeNow(world) / intervalMs) * intervalMs
  const firstMs =
    startMs === null ? currentMs - (limit - 1) * intervalMs : Math.ceil(startMs / intervalMs) * intervalMs
  const klines: Kline[] = []
  for (let openMs = firstMs; openMs <= currentMs && klines.length < limit; openMs += intervalMs) {
    if (openMs < world.candlesEndMs && !world.missingOpenMs.has(openMs))
      klines.push(klineOf(base, openMs, intervalMs))
  }
  return world.areCandlesShuffled ? [...klines, ...klines].reverse() : klines
}

export type Kline = readonly (string | number)[]

const klineOf = (base: string, openMs: number, intervalMs: number): Kline => {
  const open = priceAt(base, openMs)
  const close = priceAt(base, openMs + intervalMs)
  const [high, low] = [Math.max(open, close) * 1.0005, Math.min(open, close) * 0.9995]
  const text = (price: number): string => price.toFixed(4)
  const closeMs = openMs + intervalMs - 1
  return [
    openMs,
    text(open),
    text(high),
    text(low),
    text(close),
    '12.50000000',
    closeMs,
    '0',
    40,
    '6',
    '0',
    '0',
  ]
}
