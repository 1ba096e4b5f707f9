import { expect, it } from 'vitest'
import type { FeedBar } from '../core/market/bar.ts'
import { evolve, INITIAL_STATE } from '../core/state.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { afterBars } from './fold-bars.ts'
import { LateMarket } from './late-market.ts'
import { minuteBars } from './minute-bars.fixture.ts'

const BTC = canonicalSymbol('BTC')

const [first, ...bars] = minuteBars({ seed: 1, count: 1600 }).flat() as [FeedBar, ...FeedBar[]]

/** A market that knows the first bar. */
const begun = () => {
  const payload = { ...first, feed: 'test' }
  const event = { seq: 1, id: '1', type: 'market.bar.v1', ts: first.close_ts, source: 'test', traceId: null }
  const stored = { ...event, dedupeKey: null, payload, recordedAt: first.close_ts }
  return evolve(INITIAL_STATE, stored as unknown as Parameters<typeof evolve>[1]).market
}

const run = (count: number) => ({
  bars: bars.slice(0, count),
  openMs: bars.slice(0, count).map(({ open_ts }) => Date.parse(open_ts)),
  backfill: false,
})

const taking = (late: LateMarket, market: ReturnType<typeof begun>, from: number, to: number) => {
  const symbol = late.symbolIn(market, BTC)
  for (const bar of bars.slice(from, to)) {
    symbol?.bars.push(bar)
    symbol?.openMs.push(Date.parse(bar.open_ts))
  }
  return late.after(market, false)
}

it.each([
  ['at once', [0, 1, 2]],
  ['the newest first', [2, 1, 0]],
  ['in the middle only', [1]],
] as const)('has the bars of its time, whoever looks: %s', (_, order) => {
  const market = begun()
  const known = market.symbols.get(BTC)
  if (known === undefined) throw new Error('it has no BTC')
  const late = new LateMarket()
  const one = taking(late, market, 0, 70)
  const two = taking(late, one, 70, 200)
  const three = taking(late, two, 200, 201)
  const expected = [70, 200, 201].map((count) => afterBars(known, run(count), market.rules))
  for (const index of order) expect([one, two, three][index]?.symbols.get(BTC)).toEqual(expected[index])
  // It goes on from there.
  const last = taking(late, three, 201, 400)
  expect(last.symbols.get(BTC)).toEqual(afterBars(known, run(400), market.rules))
  expect(late.symbolIn(last, BTC)?.bars).toEqual([])
})

it('does not wait for ever', () => {
  const late = new LateMarket()
  const market = taking(late, begun(), 0, 1500)
  expect(late.symbolIn(market, BTC)?.bars).toEqual([])
})

it('begins anew with a market that somebody else has changed', () => {
  const late = new LateMarket()
  taking(late, begun(), 0, 10)
  const other = begun()
  expect(late.symbolIn(other, BTC)).toEqual({ known: other.symbols.get(BTC), bars: [], openMs: [] })
  expect(late.symbolIn(other, canonicalSymbol('ETH'))).toBeUndefined()
})
