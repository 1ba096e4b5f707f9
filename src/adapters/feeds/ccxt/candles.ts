import { memberOf, numberOf, positiveOf } from '../../ccxt.ts'
import type { Exchange, MarketDataApi, Resolution } from './exchange.ts'
import type { WatchedSymbol } from './markets.ts'

export interface Candle {
  readonly openMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

export interface Span {
  readonly fromMs: number
  /** End of the last bar. */
  readonly toMs: number
}

/** Fetches the candles of a past span, in as many requests as needed. Some candles may be missing. */
export const fetchCandles = async (
  { api, request }: Exchange,
  { market, isSpot }: WatchedSymbol,
  { seconds, timeframe }: Resolution,
  { fromMs, toMs }: Span,
): Promise<readonly Candle[]> => {
  const barMs = seconds * 1000
  const limitMax = pageLimitOf(api, isSpot)
  const candles: Candle[] = []
  let nextMs = fromMs
  while (nextMs < toMs) {
    const sinceMs = nextMs
    // One more than needed: some exchanges count the unfinished bar.
    const limit = Math.min(limitMax, (toMs - sinceMs) / barMs + 1)
    const received = await request(async () =>
      readCandles(await api.fetchOHLCV(market, timeframe, sinceMs, limit), barMs),
    )
    const page = received.filter(({ openMs }) => openMs >= sinceMs && openMs + barMs <= toMs)
    candles.push(...page)
    const last = page.at(-1)
    if (last === undefined) break
    nextMs = last.openMs + barMs
  }
  return candles
}

/** Candles oldest first, aligned to the bar length. If two have the same time, the later one counts. */
export const readCandles = (response: unknown, barMs: number): readonly Candle[] => {
  if (!Array.isArray(response)) throw new Error('the exchange returned no list of candles')
  const byTime = new Map<number, Candle>()
  for (const row of response as readonly unknown[]) {
    const candle = candleOf(row)
    if (candle.openMs % barMs === 0) byTime.set(candle.openMs, candle)
  }
  return [...byTime.values()].sort((left, right) => left.openMs - right.openMs)
}

/** Spans between `fromMs` and the newest candle in which candles are missing. */
export const holesIn = (candles: readonly Candle[], fromMs: number, barMs: number): readonly Span[] => {
  const holes: Span[] = []
  let nextMs = fromMs
  for (const { openMs } of candles) {
    if (openMs > nextMs) holes.push({ fromMs: nextMs, toMs: openMs })
    nextMs = openMs + barMs
  }
  return holes
}

export interface BackfillPlan {
  /** Span of the coarse warm-up bars; null without a warm-up. */
  readonly warmup: Span | null
  /** Open time of the first bar of the ordinary length. */
  readonly nextMs: number
}

export interface BackfillInput {
  readonly nowMs: number
  readonly barMs: number
  /** Close time of the newest stored bar; null for a symbol without bars. */
  readonly lastCloseMs: number | null
  readonly warmupHours: number
  /** Null where the exchange has no coarser bars that fit. */
  readonly warmupBarMs: number | null
}

/** Plans where a symbol continues: after its last stored bar, or with the warm-up if no bars are stored. */
export const planBackfill = (input: BackfillInput): BackfillPlan => {
  const { nowMs, barMs, lastCloseMs, warmupHours, warmupBarMs } = input
  if (lastCloseMs !== null) return { warmup: null, nextMs: Math.ceil(lastCloseMs / barMs) * barMs }
  const warmupMs = warmupHours * 3_600_000
  const newestMs = floorTo(nowMs, barMs)
  if (warmupBarMs === null || warmupMs < warmupBarMs) {
    return { warmup: null, nextMs: floorTo(newestMs - warmupMs, barMs) }
  }
  const toMs = floorTo(newestMs, warmupBarMs)
  return { warmup: { fromMs: floorTo(toMs - warmupMs, warmupBarMs), toMs }, nextMs: toMs }
}

/** The earliest bar that is fetched. A longer absence leaves a gap. */
export const earliestMs = (boundaryMs: number, barMs: number): number =>
  boundaryMs - BACKFILL_BARS_MAX * barMs

export const floorTo = (ms: number, stepMs: number): number => Math.floor(ms / stepMs) * stepMs

/** Three days of minutes. */
export const BACKFILL_BARS_MAX = 4320

const candleOf = (row: unknown): Candle => {
  const values = (Array.isArray(row) ? row : []).slice(0, 6).flatMap((value) => numberOf(value) ?? [])
  const [openMs, open, high, low, close, volume] = values
  // One missing number would shift the others: a candle has all six numbers or is skipped.
  if (volume === undefined || !Number.isSafeInteger(openMs)) {
    throw new Error('the exchange returned a malformed candle')
  }
  return { openMs, open, high, low, close, volume } as Candle
}

/** Number of candles that the exchange returns at once, where the library knows it. */
export const pageLimitOf = ({ features }: MarketDataApi, isSpot: boolean): number => {
  const kind = isSpot ? memberOf(features, 'spot') : memberOf(memberOf(features, 'swap'), 'linear')
  const limit = positiveOf(memberOf(memberOf(kind, 'fetchOHLCV'), 'limit'))
  return Math.min(PAGE_CANDLES_MAX, limit ?? PAGE_CANDLES_UNKNOWN)
}

const PAGE_CANDLES_MAX = 1000
const PAGE_CANDLES_UNKNOWN = 300
