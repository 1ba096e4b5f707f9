import { numberIn } from './readers/reader.ts'
import type { FreshSignal } from './fresh-signals.ts'

/** Raw values of a symbol that decide the regime and how crowded a side is; null where nobody fresh tells. */
export interface Gauges {
  readonly rsi: number | null
  /** % per year. */
  readonly funding: number | null
  /** % per year. */
  readonly basis: number | null
  /** 0 to 100. */
  readonly fearGreed: number | null
}

export const gaugesOf = (fresh: readonly FreshSignal[]): Gauges => ({
  rsi: gauge(fresh, 'signal.ta.v1', 'rsi_14'),
  funding: gauge(fresh, 'signal.tradfi.v1', 'funding_annualized'),
  basis: gauge(fresh, 'signal.tradfi.v1', 'basis_annualized'),
  fearGreed: gauge(fresh, 'signal.sentiment.v1', 'fear_greed'),
})

/** Our own producer is believed; of registered ones the median, so that one stranger alone moves little. */
const gauge = (fresh: readonly FreshSignal[], type: string, member: string): number | null => {
  const own: number[] = []
  const registered: number[] = []
  for (const { author, signal } of fresh) {
    if (signal.type !== type || author.kind === 'contributor') continue
    const value = numberIn(signal.payload, member)
    if (value !== null) (author.kind === 'builtin' ? own : registered).push(value)
  }
  return median(own) ?? median(registered)
}

const median = (values: readonly number[]): number | null => {
  const sorted = values.toSorted((one, other) => one - other)
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  const upper = sorted[Math.floor(sorted.length / 2)]
  if (lower === undefined || upper === undefined) return null
  return lower + (upper - lower) / 2
}
