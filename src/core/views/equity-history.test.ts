import { describe, expect, it } from 'vitest'
import { viewEquityHistory, type EquityFacts, type Held } from './equity-history.ts'

const HOUR_MS = 3_600_000

const long: Held = {
  asset: 'BTC',
  sign: 1,
  quantity: 2,
  entryPrice: 100,
  entryFeesUsd: 1,
  openedAtMs: HOUR_MS,
  end: null,
}
const facts: EquityFacts = {
  nowMs: 4 * HOUR_MS,
  sinceMs: 0,
  points: 4,
  equityUsd: 1019,
  settledUsd: 1000,
  held: [long],
  prices: new Map([
    [
      'BTC',
      [
        { atMs: HOUR_MS, price: 100 },
        { atMs: 2 * HOUR_MS, price: 105 },
        { atMs: 3 * HOUR_MS, price: 95 },
      ],
    ],
  ]),
}
const curve = (given: Partial<EquityFacts>): readonly number[] =>
  viewEquityHistory({ ...facts, ...given }).points.map(({ equity_usd }) => equity_usd)

describe('viewEquityHistory', () => {
  it('marks what is open at the price of the time', () => {
    expect(curve({})).toEqual([1000, 999, 1009, 989, 1019])
  })

  it('turns around for a short', () => {
    expect(curve({ held: [{ ...long, sign: -1 }] })).toEqual([1000, 999, 989, 1009, 1019])
  })

  it('takes a result away from the time before it was made', () => {
    const closed = { ...long, end: { closedAtMs: 2.5 * HOUR_MS, realizedUsd: 30 } }
    expect(curve({ held: [closed], settledUsd: 1030, equityUsd: 1030 })).toEqual([
      1000, 999, 1009, 1030, 1030,
    ])
  })

  it('takes the entry where no price is known', () => {
    expect(curve({ prices: new Map() })).toEqual([1000, 999, 999, 999, 1019])
  })

  it('names times, the last of them now', () => {
    const { as_of, points } = viewEquityHistory(facts)
    expect(points.map(({ ts }) => ts.slice(11, 16))).toEqual(['00:00', '01:00', '02:00', '03:00', '04:00'])
    expect(points.at(-1)?.ts).toBe(as_of)
  })
})
