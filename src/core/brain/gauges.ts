import type { FreshSignal } from './fresh-signals.ts'
import { numberIn, type Reader } from '../signals/types/reader.ts'
import { marketMood } from '../signals/types/social.ts'
import { indicators } from '../signals/types/technical.ts'
import { derivatives } from '../signals/types/tradfi.ts'

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
  rsi: gauge(fresh, indicators, 'rsi_14'),
  funding: gauge(fresh, derivatives, 'funding_annualized'),
  basis: gauge(fresh, derivatives, 'basis_annualized'),
  fearGreed: gauge(fresh, marketMood, 'fear_greed'),
})

/** Our own producer is believed; of registered ones the median, so that one stranger alone moves little. */
const gauge = (fresh: readonly FreshSignal[], type: Reader<never>, member: string): number | null => {
  const own: number[] = []
  const registered: number[] = []
  for (const { weighted, signal, reader } of fresh) {
    const { kind } = weighted.author
    if (reader !== type || kind === 'contributor') continue
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
