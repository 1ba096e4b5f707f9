import { canonicalSymbol } from '../shared/symbol.ts'
import { timestampAt } from '../shared/time.ts'
import { timestampOf, type Timestamp } from '../shared/brand.ts'
import { priceNumberOrNull, priceFrom } from '../shared/money.ts'
import { describe, expect, it } from 'vitest'
import { stateAfter } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { ANALYSIS_BARS_MAX } from './evolve.ts'
import type { FeedBar } from './bar.ts'
import { barAt, barsFrom } from './bars.fixture.ts'
import { dayFactsOf, markOf, marketView, plainView } from './readings.ts'

const BEGIN = timestampOf('2026-02-18T00:00:00.000Z')
const at = (minutes: number): Timestamp => timestampAt(Date.parse(BEGIN) + minutes * 60_000)
const stored = (bar: FeedBar): NewEvent => ({
  type: 'market.bar.v1',
  source: 'market',
  payload: { ...bar, feed: 'file' },
})
const marketAfter = (bars: readonly FeedBar[], ...others: readonly NewEvent[]) =>
  stateAfter([...bars.map(stored), ...others]).market
const closes = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => 100 + index)

describe('analysis bars', () => {
  it('are put together from the bars of their time', () => {
    const bars = barsFrom(at(0), closes(31))
    const [view] = marketView(marketAfter(bars), ['BTC']).symbols
    expect(view?.analysisBars).toEqual([
      expect.objectContaining({
        openMs: Date.parse(at(0)),
        open: priceFrom(100),
        high: priceFrom(114),
        low: priceFrom(100),
        close: priceFrom(114),
        volume: 15,
      }),
      expect.objectContaining({ openMs: Date.parse(at(15)), open: priceFrom(115), close: priceFrom(129) }),
    ])
    expect(view?.variance).toBeCloseTo((129 / 114 - 1) ** 2, 12)
  })

  it('close with a gap in them', () => {
    const bars = [...barsFrom(at(0), [1, 2]), barAt(at(40), 3)]
    const [view] = marketView(marketAfter(bars), ['BTC']).symbols
    expect(view?.analysisBars).toMatchObject([{ open: priceFrom(1), close: priceFrom(2), volume: 2 }])
  })

  it('may be shorter than the bars of the feed', () => {
    const [view] = marketView(marketAfter(barsFrom(at(0), [1, 2], { resolution_s: 3600 })), ['BTC']).symbols
    expect(view?.analysisBars.map(({ close }) => close)).toEqual([priceFrom(1), priceFrom(2)])
  })

  it('are kept in bounded number, whatever the history', () => {
    const market = marketAfter(barsFrom(at(0), closes(ANALYSIS_BARS_MAX + 50), { resolution_s: 900 }))
    const [view] = marketView(market, ['BTC']).symbols
    expect(view?.analysisBars).toHaveLength(ANALYSIS_BARS_MAX)
    expect(view?.analysisBars.map(({ close }) => close)).toEqual(
      closes(ANALYSIS_BARS_MAX + 50)
        .slice(50)
        .map(priceFrom),
    )
    const { older = [], newer = [] } = market.symbols.get(canonicalSymbol('BTC'))?.analysis ?? {}
    expect(older.length + newer.length).toBeLessThanOrEqual(ANALYSIS_BARS_MAX + 20)
    expect(market.symbols.get(canonicalSymbol('BTC'))?.closes.length).toBeLessThanOrEqual(5)
  })

  it('begin anew when their length changes', () => {
    const started = (analysis_bar_seconds: number): NewEvent => ({
      type: 'system.started.v1',
      source: 'system',
      payload: {
        version: '0',
        node_id: 'n',
        public_key: 'k',
        ephemeral: false,
        integrity: { ok: true, reason: null, first_bad_seq: null },
        folding: { analysis_bar_seconds, variance_decay: 0.97, link_window_seconds: 600 },
      },
    })
    const bars = barsFrom(at(0), closes(30))
    expect(marketView(marketAfter(bars, started(900)), ['BTC']).symbols[0]?.analysisBars).toHaveLength(2)
    const changed = marketAfter(bars, started(300))
    expect(changed.symbols.get(canonicalSymbol('BTC'))).toMatchObject({
      last: { close: priceFrom(129) },
      analysis: { older: [], newer: [], forming: null },
    })
    expect(changed.rules.barSeconds).toBe(300)
  })
})

describe('a day of a symbol', () => {
  it('is unknown before one was seen', () => {
    const market = marketAfter(barsFrom(at(0), closes(20), { resolution_s: 900 }))
    expect(dayFactsOf(market, canonicalSymbol('BTC'))).toEqual({ volume24hUsd: null, return24hPct: null })
    expect(dayFactsOf(market, canonicalSymbol('ETH'))).toEqual({ volume24hUsd: null, return24hPct: null })
  })

  it('has the volume and return of 24 hours', () => {
    const market = marketAfter(barsFrom(at(0), Array(97).fill(100), { resolution_s: 900, quote_volume: 10 }))
    expect(dayFactsOf(market, canonicalSymbol('btc-usdt'))).toEqual({ volume24hUsd: 960, return24hPct: 0 })
    const risen = marketAfter(barsFrom(at(0), [...Array(96).fill(100), 105], { resolution_s: 900 }))
    expect(dayFactsOf(risen, canonicalSymbol('BTC')).return24hPct).toBeCloseTo(5, 9)
  })
})

describe('what producers see', () => {
  it('has the return of an hour only after an hour', () => {
    const view = (count: number) =>
      marketView(marketAfter(barsFrom(at(0), closes(count))), ['BTC']).symbols[0]
    expect(view(30)?.return1h).toBeNull()
    expect(view(61)?.return1h).toBeCloseTo(0.6, 9)
  })

  it('has the change of open interest in a day and of fear and greed in a week', () => {
    const days = Array.from({ length: 8 }, (_, day) =>
      barAt(at(day * 1440), 100, { resolution_s: 900, fear_greed: 20 + day, open_interest_usd: 100 + day }),
    )
    const [view] = marketView(marketAfter(days), ['BTC']).symbols
    expect(view).toMatchObject({ fearGreed: 27, fearGreedChange7d: 7, openInterestUsd: 107 })
    expect(view?.openInterestChangePct).toBeCloseTo((107 / 106 - 1) * 100, 9)
  })

  it('reaches code in another thread with every member', () => {
    const view = marketView(marketAfter(barsFrom(at(0), closes(61))), ['BTC'])
    const [own] = view.symbols
    const getters = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(own) as object))
    const names = ['symbol', ...getters.filter(([, one]) => 'get' in one).map(([name]) => name)]
    const [copied] = structuredClone(plainView(view)).symbols
    expect(Object.keys(copied ?? {}).toSorted()).toEqual(names.toSorted())
    expect(copied).toEqual(Object.fromEntries(names.map((name) => [name, own?.[name as keyof typeof own]])))
  })

  it('lacks symbols of which nothing was heard for long', () => {
    const bars = [barAt(at(0), 7, { symbol: 'ETH' })]
    const symbolsOf = (last: number) =>
      marketView(marketAfter([...bars, barAt(at(last))]), ['ETH', 'BTC']).symbols.map(({ symbol }) => symbol)
    expect([symbolsOf(30), symbolsOf(60)]).toEqual([['ETH', 'BTC'], ['BTC']])
  })

  it('lacks symbols without a bar', () => {
    expect(
      marketView(marketAfter([barAt(at(0))]), ['ETH', 'BTC']).symbols.map(({ symbol }) => symbol),
    ).toEqual(['BTC'])
  })
})

describe('the mark', () => {
  const trust = { maxAgeMs: 180_000, producers: ['ticker'] }
  const price = (value: unknown, source = 'ticker', minutes = 2, symbol = 'BTC'): NewEvent => ({
    type: 'signal.price_ws.v1',
    source,
    ts: at(minutes),
    payload: { symbol, price: value as number },
  })
  const mark = (bars: readonly FeedBar[], ...others: readonly NewEvent[]) =>
    priceNumberOrNull(
      markOf(marketAfter(bars, ...others), canonicalSymbol('btc'), Date.parse(at(3)), trust)?.price ?? null,
    )

  it('is the last close as long as it is young', () => {
    expect(mark([barAt(at(0), 7)])).toBe(7)
    expect(
      markOf(marketAfter([barAt(at(0), 7)]), canonicalSymbol('BTC'), Date.parse(at(5)), trust),
    ).toBeNull()
  })

  it('is not taken from the past', () => {
    expect(mark([barAt(at(1), 7, { backfill: true })])).toBeNull()
    expect(mark([barAt(at(0), 7), barAt(at(1), 8, { backfill: true })])).toBe(7)
  })

  it('is a newer price of somebody who is trusted', () => {
    expect(mark([barAt(at(0), 7)], price(9))).toBe(9)
    expect(mark([barAt(at(0), 7)], price(9, 'stranger'))).toBe(7)
    expect(mark([barAt(at(0), 7)], price(9, 'ticker', 0))).toBe(7)
    expect(mark([], price(-1))).toBeNull()
    expect(mark([], price('9'))).toBeNull()
  })

  it('is taken from so many producers of so many symbols, and no more', () => {
    const crowd = Array.from({ length: 100 }, (_, index) => price(8, `producer-${index}`))
    expect(mark([], ...crowd, price(9))).toBeNull()
    expect(mark([], ...crowd.slice(1), price(9))).toBe(9)
    const others = Array.from({ length: 2000 }, (_, index) => price(8, 'ticker', 2, `S${index}`))
    expect(mark([], ...others, price(9))).toBeNull()
    expect(mark([], ...others.slice(1), price(9))).toBe(9)
  })

  it('does not go back to an older price of the same producer', () => {
    expect(mark([], price(9), price(8, 'ticker', 1))).toBe(9)
  })
})
