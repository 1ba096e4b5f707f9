import { priceFrom } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { given, NOW } from '../../../test/given.fixture.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { barFaultOf, type FeedBar } from './bar.ts'
import { barAt } from './bars.fixture.ts'

const LAST = '2026-02-20T00:10:00.000Z'
const NEXT = '2026-02-20T00:11:00.000Z'
const AFTER = '2026-02-20T00:12:00.000Z'

const stored = (bar: FeedBar): NewEvent => ({
  type: 'market.bar.v1',
  source: 'market',
  payload: { ...bar, feed: 'file' },
})
const held = (bar: FeedBar): NewEvent => ({
  type: 'market.bar_held.v1',
  source: 'market',
  payload: { ...bar, feed: 'file' },
})
const observe = (...bars: readonly FeedBar[]) =>
  ({ kind: 'observe-bars', observation: { feed: 'file', bars } }) as const
const refusal = (reason: string) =>
  ({
    type: 'system.audit.v1',
    payload: { resource: 'market:BTC', action: 'write', outcome: 'denied', reason },
  }) as const

describe('a bar', () => {
  it('is stored with the name of its feed', () => {
    const state = given()
      .when(observe(barAt(LAST, 100), barAt(LAST, 5, { symbol: 'eth/usdt' })))
      .then(
        { type: 'market.bar.v1', payload: { symbol: 'BTC', close: 100, feed: 'file' } },
        { type: 'market.bar.v1', payload: { symbol: 'eth/usdt' } },
      )
    expect([...state.market.symbols.keys()].toSorted()).toEqual(['BTC', 'ETH'])
  })

  it.each([
    ['NaN', { close: Number.NaN }],
    ['zero', { low: 0 }],
    ['a price that rounds to zero', { low: 1e-9 }],
    ['negative', { open: -1, low: -1 }],
    ['absurd', { close: 1e300, high: 1e300 }],
    ['infinite', { high: Infinity }],
    ['a low above the open', { low: 101 }],
    ['a high below the close', { high: 99 }],
    ['a negative volume', { volume: -1 }],
    ['an unknown volume', { quote_volume: Number.NaN }],
    ['a depth that is no number', { bid_depth_usd: Number.NaN }],
    ['an index beyond its scale', { fear_greed: 101 }],
    ['a time that is none', { open_ts: 'yesterday' }],
    ['no length', { resolution_s: 0 }],
  ])('with %s is refused as invalid', (_, changes) => {
    given(stored(barAt(LAST)))
      .when(observe(barAt(NEXT, 100, changes)))
      .then(refusal('invalid'))
  })

  it('off the grid, repeated, out of order or from the future is refused', () => {
    const from = given(stored(barAt(LAST)))
    from.when(observe(barAt('2026-02-20T00:11:01.000Z'))).then(refusal('off_grid'))
    from.when(observe(barAt(NEXT, 100, { close_ts: NOW }))).then(refusal('off_grid'))
    from.when(observe(barAt(LAST))).then(refusal('repeated'))
    from.when(observe(barAt('2026-02-20T00:09:00.000Z'))).then(refusal('out_of_order'))
    from.when(observe(barAt(NOW))).then(refusal('in_future'))
  })

  it('takes no other symbol with it when it is refused', () => {
    given(stored(barAt(LAST)))
      .when(observe(barAt(LAST), barAt(NEXT, 7, { symbol: 'ETH' })))
      .then(refusal('repeated'), { type: 'market.bar.v1', payload: { symbol: 'ETH' } })
  })

  it('may come after hours of silence', () => {
    given(stored(barAt('2026-02-19T12:00:00.000Z')))
      .when(observe(barAt(NEXT, 104)))
      .then({ type: 'market.bar.v1' })
  })
})

describe('a jump', () => {
  it('waits for a second bar', () => {
    const state = given(stored(barAt(LAST)))
      .when(observe(barAt(NEXT, 131)))
      .then({ type: 'market.bar_held.v1', payload: { close: 131 } })
    expect(state.market.symbols.get(canonicalSymbol('BTC'))).toMatchObject({
      last: { close: priceFrom(100) },
      held: { close: priceFrom(131) },
    })
  })

  it('is no jump up to the limit, in either direction', () => {
    for (const close of [130, 70]) {
      given(stored(barAt(LAST)))
        .when(observe(barAt(NEXT, close)))
        .then({ type: 'market.bar.v1' })
    }
  })

  it('is taken when the next bar is near it', () => {
    const state = given(stored(barAt(LAST)), held(barAt(NEXT, 131)))
      .when(observe(barAt(AFTER, 140)))
      .then(
        { type: 'market.bar.v1', payload: { close: 131 } },
        { type: 'market.bar.v1', payload: { close: 140 } },
      )
    expect(state.market.symbols.get(canonicalSymbol('BTC'))).toMatchObject({
      last: { close: priceFrom(140) },
      held: null,
    })
  })

  it('is dropped when the next bar is back', () => {
    const state = given(stored(barAt(LAST)), held(barAt(NEXT, 131)))
      .when(observe(barAt(AFTER, 101)))
      .then(refusal('price_jump'), { type: 'market.bar.v1', payload: { close: 101 } })
    expect(state.market.symbols.get(canonicalSymbol('BTC'))?.held).toBeNull()
  })

  it('is dropped for another jump', () => {
    given(stored(barAt(LAST)), held(barAt(NEXT, 131)))
      .when(observe(barAt(AFTER, 50)))
      .then(refusal('price_jump'), { type: 'market.bar_held.v1', payload: { close: 50 } })
  })

  it('of the open alone is refused: no stop may be filled there', () => {
    for (const open of [60, 140]) {
      const bar = barAt(NEXT, 100, { open, low: Math.min(open, 100), high: Math.max(open, 100) })
      given(stored(barAt(LAST)))
        .when(observe(bar))
        .then(refusal('price_jump'))
    }
  })

  it('is not confirmed by itself', () => {
    given(stored(barAt(LAST)), held(barAt(NEXT, 131)))
      .when(observe(barAt(NEXT, 131)))
      .then(refusal('repeated'))
  })
})

it('never lets a bad number into the market', () => {
  const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Infinity, -0, 0, 1e308))
  const changes = fc.record(
    { open: number, high: number, low: number, close: number, volume: number, fear_greed: number },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(changes, (changed) => {
      const bar = barAt(NEXT, 100, changed)
      if (barFaultOf(bar, null, Date.parse(NOW)) !== null) return
      const { open, high, low, close } = bar
      expect(low > 0 && low <= Math.min(open, close) && high >= Math.max(open, close)).toBe(true)
      expect(Number.isFinite(high) && bar.volume >= 0).toBe(true)
    }),
  )
})
