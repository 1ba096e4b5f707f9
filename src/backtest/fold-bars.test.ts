import { describe, expect, it } from 'vitest'
import { INITIAL_MARKET, type Market, type SymbolMarket } from '../core/market/evolve.ts'
import { storedBar } from '../core/market/bar.ts'
import { afterBars } from './fold-bars.ts'
import { minuteBars } from './minute-bars.fixture.ts'

const BARS = minuteBars({ seed: 1, count: 6000, gaps: 0.05, hasSideValues: true }).flat()

/** After all bars, a few at a time; `look` sees the symbol after each time. */
const folded = (rules: Market['rules'], look: (known: SymbolMarket) => void): SymbolMarket => {
  const [first] = BARS
  if (first === undefined) throw new Error('there are no bars')
  let known: SymbolMarket = {
    last: storedBar(first as Parameters<typeof storedBar>[0]),
    held: null,
    repeatedUntil: null,
    mark: null,
    closes: [],
    analysis: { bars: [], forming: null, variance: null },
    fearGreedByDay: [],
  }
  for (let from = 1; from < BARS.length; from += 70) {
    const bars = BARS.slice(from, from + 70)
    const openMs = bars.map(({ open_ts }) => Date.parse(open_ts))
    known = afterBars(known, { bars, openMs, backfill: false }, rules)
    look(known)
  }
  return known
}

describe('analysis bars that nobody reads', () => {
  it.each([60, 180, 420, 900])('are the same at last, of %i seconds', (barSeconds) => {
    const rules = { ...INITIAL_MARKET.rules, barSeconds }
    const unread = folded(rules, () => undefined)
    const read = folded(rules, ({ analysis }) => expect(analysis.variance).not.toBeUndefined())
    expect(unread.analysis.bars.length).toBeGreaterThan(300)
    expect(unread.analysis).toEqual(read.analysis)
  })
})
