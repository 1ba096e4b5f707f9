import type { FreshSignal } from './fresh-signals.ts'
import { numberIn } from '../signal-types/declare.ts'
import { sentiment } from '../signal-types/sentiment.ts'
import { ta } from '../signal-types/ta.ts'
import { tradfi } from '../signal-types/tradfi.ts'

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
  rsi: gauge(fresh, ta.type, 'rsi_14'),
  funding: gauge(fresh, tradfi.type, 'funding_annualized'),
  basis: gauge(fresh, tradfi.type, 'basis_annualized'),
  fearGreed: gauge(fresh, sentiment.type, 'fear_greed'),
})

/** Our own producer is believed; of registered ones the median, so that one stranger alone moves little. */
const gauge = (fresh: readonly FreshSignal[], type: string, member: string): number | null => {
  const own: number[] = []
  const registered: number[] = []
  for (const { weighted, signal } of fresh) {
    const { kind } = weighted.author
    if (signal.type !== type || kind === 'contributor') continue
    const value = numberIn(signal.payload, member)
    if (value !== null) (kind === 'builtin' ? own : registered).push(value)
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
