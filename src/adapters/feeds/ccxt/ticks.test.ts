import { expect, it } from 'vitest'
import type { Tick } from '../../../ports/market-feed.ts'
import type { WatchedSymbol } from './markets.ts'
import { createTickFilter } from './ticks.ts'

const watched: readonly WatchedSymbol[] = ['BTC', 'ETH'].map((symbol) => ({
  symbol,
  market: `${symbol}/USD`,
  isSpot: true,
  perpetual: null,
}))

const NOW_MS = Date.parse('2026-02-20T12:00:00Z')

const filter = () => {
  const ticks: Tick[] = []
  let nowMs = NOW_MS
  const onTickers = createTickFilter({ onTick: (tick) => ticks.push(tick) }, watched, { now: () => nowMs })
  return { ticks, onTickers, pass: (ms: number) => (nowMs += ms) }
}

it('prices come once each, and none that is older than the last', () => {
  const { ticks, onTickers } = filter()
  const at = (last: string, secondsAgo: number) => ({
    'BTC/USD': { last, timestamp: NOW_MS - secondsAgo * 1000 },
  })
  for (const tickers of [at('10', 5), at('11', 6), at('12', 5), at('13', 4)]) onTickers(tickers)
  expect(ticks.map(({ price }) => price)).toEqual([10, 13])
})

it('prices without a time, as Kraken sends them, are as new as their arrival', () => {
  const { ticks, onTickers, pass } = filter()
  const kept = { 'BTC/USD': { last: '10', timestamp: undefined }, 'ETH/USD': { last: '2' } }
  onTickers(kept)
  pass(1000)
  // The library hands out what it keeps of BTC along with a new price of ETH.
  onTickers({ ...kept, 'ETH/USD': { last: '3' } })
  pass(1000)
  onTickers({ 'BTC/USD': { last: '10' } })
  expect(ticks).toEqual([
    { symbol: 'BTC', price: 10, atMs: NOW_MS },
    { symbol: 'ETH', price: 2, atMs: NOW_MS },
    { symbol: 'ETH', price: 3, atMs: NOW_MS + 1000 },
    { symbol: 'BTC', price: 10, atMs: NOW_MS + 2000 },
  ])
})

it('one price with a time far ahead does not hold back those that follow', () => {
  const { ticks, onTickers, pass } = filter()
  onTickers({ 'BTC/USD': { last: '10', timestamp: NOW_MS * 1000 } })
  pass(1000)
  onTickers({ 'BTC/USD': { last: '9', timestamp: NOW_MS + 1000 } })
  expect(ticks).toEqual([
    { symbol: 'BTC', price: 10, atMs: NOW_MS },
    { symbol: 'BTC', price: 9, atMs: NOW_MS + 1000 },
  ])
})

it.each(['0', '-1', '', 'NaN', null, undefined])('a price of %s is none', (last) => {
  const { ticks, onTickers } = filter()
  onTickers({ 'BTC/USD': { last, timestamp: NOW_MS } })
  expect(ticks).toEqual([])
})
