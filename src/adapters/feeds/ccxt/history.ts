import { readCandles, type Candle, type Span } from './candles.ts'
import type { Exchange } from './exchange.ts'
import type { Line } from './line.ts'
import type { Watched } from './markets.ts'
import { memberOf, positiveOf } from './values.ts'

/** A length of bars that the venue has, and its name there. */
export interface Resolution {
  readonly seconds: number
  readonly timeframe: string
}

export const resolutionOf = (exchange: Exchange, seconds: number): Resolution | null => {
  const timeframe = Object.keys(exchange.timeframes ?? {}).find(
    (name) => exchange.parseTimeframe(name) === seconds,
  )
  return timeframe === undefined ? null : { seconds, timeframe }
}

/** The candles of a span that has ended, in as many requests as it takes. May lack some, at the end or between. */
export const fetchCandles = async (
  { exchange, line }: { readonly exchange: Exchange; readonly line: Line },
  { market, isSpot }: Watched,
  { seconds, timeframe }: Resolution,
  { fromMs, toMs }: Span,
): Promise<readonly Candle[]> => {
  const barMs = seconds * 1000
  const limitMax = pageLimitOf(exchange, isSpot)
  const candles: Candle[] = []
  let nextMs = fromMs
  while (nextMs < toMs) {
    const sinceMs = nextMs
    // One more than needed, for the bar that is not finished: some venues count it from the end.
    const limit = Math.min(limitMax, (toMs - sinceMs) / barMs + 1)
    const answer = await line.ask(async () =>
      readCandles(await exchange.fetchOHLCV(market, timeframe, sinceMs, limit), barMs),
    )
    const page = answer.filter(({ openMs }) => openMs >= sinceMs && openMs + barMs <= toMs)
    candles.push(...page)
    const last = page.at(-1)
    if (last === undefined) break
    nextMs = last.openMs + barMs
  }
  return candles
}

/** How many candles a venue tells at once, where the library knows it. */
const pageLimitOf = (exchange: Exchange, isSpot: boolean): number => {
  const { features } = exchange
  const kind = isSpot ? memberOf(features, 'spot') : memberOf(memberOf(features, 'swap'), 'linear')
  const limit = positiveOf(memberOf(memberOf(kind, 'fetchOHLCV'), 'limit'))
  return Math.min(PAGE_CANDLES_MAX, limit ?? PAGE_CANDLES_UNKNOWN)
}

const PAGE_CANDLES_MAX = 1000
const PAGE_CANDLES_UNKNOWN = 300
