import { numberOf, UnreadableAnswerError } from './values.ts'

export interface Candle {
  readonly openMs: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** The candles of an answer: oldest first, each time once, on the grid. Of two with the same time the later one counts. */
export const readCandles = (answer: unknown, barMs: number): readonly Candle[] => {
  if (!Array.isArray(answer)) throw new UnreadableAnswerError('the venue told no list of candles')
  const byTime = new Map<number, Candle>()
  for (const row of answer as readonly unknown[]) {
    const candle = candleOf(row)
    if (candle.openMs % barMs === 0) byTime.set(candle.openMs, candle)
  }
  return [...byTime.values()].sort((left, right) => left.openMs - right.openMs)
}

export interface Span {
  readonly fromMs: number
  /** The end of the last bar. */
  readonly toMs: number
}

/** Where candles are missing between `fromMs` and the newest of them. */
export const holesIn = (candles: readonly Candle[], fromMs: number, barMs: number): readonly Span[] => {
  const holes: Span[] = []
  let nextMs = fromMs
  for (const { openMs } of candles) {
    if (openMs > nextMs) holes.push({ fromMs: nextMs, toMs: openMs })
    nextMs = openMs + barMs
  }
  return holes
}

const candleOf = (row: unknown): Candle => {
  const [openMs, open, high, low, close, volume] = (Array.isArray(row) ? row : []).map(numberOf)
  if (
    !Number.isSafeInteger(openMs) ||
    !isNumber(openMs) ||
    !isNumber(open) ||
    !isNumber(high) ||
    !isNumber(low) ||
    !isNumber(close) ||
    !isNumber(volume)
  ) {
    throw new UnreadableAnswerError('the venue told a candle that is none')
  }
  return { openMs, open, high, low, close, volume }
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number'
