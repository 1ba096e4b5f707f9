import { z } from 'zod'
import { readCurve, type EquityCurve } from '../trading/equity-curve.ts'
import { usdNumber, type Usd } from '../shared/money.ts'

export const equityHistoryView = z.object({
  as_of: z.string(),
  points: z
    .array(z.object({ ts: z.string(), equity_usd: z.number() }))
    .meta({ description: 'oldest first; what equity was then; the last one is the equity of `as_of`' }),
})

export type EquityHistoryView = z.infer<typeof equityHistoryView>

export interface EquityFacts {
  readonly nowMs: number
  readonly sinceMs: number
  readonly points: number
  readonly equity: Usd
  readonly curve: EquityCurve
}

/** Equity as it was at evenly spread times, and as it is. Without samples it never was another. */
export const viewEquityHistory = ({
  nowMs,
  sinceMs,
  points,
  equity,
  curve,
}: EquityFacts): EquityHistoryView => {
  const past = readCurve(curve, { sinceMs, untilMs: nowMs, points })
  const known = past.length > 0 ? past : [{ atMs: sinceMs, equity }]
  return {
    as_of: isoOf(nowMs),
    points: [...known, { atMs: nowMs, equity }].map((point) => ({
      ts: isoOf(point.atMs),
      equity_usd: cents(usdNumber(point.equity)),
    })),
  }
}

const cents = (usd: number): number => Math.round(usd * 100) / 100

const isoOf = (ms: number): string => new Date(ms).toISOString()
