import { type Usd } from '../shared/money.ts'
import { describe, expect, it } from 'vitest'
import { evolveCurve, INITIAL_CURVE } from '../trading/risk/equity-curve.ts'
import { viewEquityHistory } from './portfolio.ts'

const HOUR_MS = 3_600_000

describe('viewEquityHistory', () => {
  it('names times and dollars, the last of them now', () => {
    const curve = evolveCurve(
      evolveCurve(INITIAL_CURVE, 0, HOUR_MS, 1_000_000_000n as Usd),
      HOUR_MS,
      2 * HOUR_MS,
      1_009_994_999n as Usd,
    )
    const facts = { nowMs: 2 * HOUR_MS, sinceMs: 0, points: 4, equity: 990_000_000n as Usd, curve }
    expect(viewEquityHistory(facts)).toEqual({
      as_of: '1970-01-01T02:00:00.000Z',
      points: [
        { ts: '1970-01-01T00:00:00.000Z', equity_usd: 1000 },
        { ts: '1970-01-01T00:36:00.000Z', equity_usd: 1000 },
        { ts: '1970-01-01T01:03:00.000Z', equity_usd: 1009.99 },
        { ts: '1970-01-01T01:30:00.000Z', equity_usd: 1009.99 },
        { ts: '1970-01-01T02:00:00.000Z', equity_usd: 990 },
      ],
    })
  })

  it('is flat before the first sample', () => {
    const facts = { nowMs: HOUR_MS, sinceMs: 0, points: 4, equity: 5_000_000n as Usd, curve: INITIAL_CURVE }
    expect(viewEquityHistory(facts).points.map(({ equity_usd }) => equity_usd)).toEqual([5, 5])
  })
})
