import { expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import { authorKey } from '../shared/author-key.ts'
import { contributorId } from '../shared/brand.ts'
import { DAY_MS } from '../shared/time.ts'
import { driftOf, NO_RATES, withMove } from './base-rates.ts'
import { barAfter, configured, HOUR_MS, say } from './calls.fixture.ts'
import { contributionsIn } from './evolve.ts'

const SYMBOLS = Array.from({ length: 50 }, (_, index) => `S${index}`)
const DAYS = 40

/** Influence of ann after forty random calls, on a horizon that only ann uses. */
const influenceAfter = (flood: readonly string[]): number => {
  const scenario = configured({ universe: { symbols: ['BTC', ...SYMBOLS] } })
  if (flood.length > 0) scenario.bars(flood.map((symbol) => [symbol, 100]))
  flood.forEach((symbol, index) => {
    const direction = index % 2 === 0 ? 'bullish' : 'bearish'
    say(scenario, 'ann', { symbol, direction, conviction: 8, horizon: '1h' })
  })
  scenario.wait(HOUR_MS - 60_000)
  if (flood.length > 0) scenario.bars(flood.map((symbol) => [symbol, 90]))
  for (let day = 0; day < DAYS; day += 1) {
    barAfter(scenario, DAY_MS - HOUR_MS, 100)
    say(scenario, 'ann', { direction: 'bullish', conviction: 8, horizon: '1h' })
    barAfter(scenario, HOUR_MS, day % 2 === 0 ? 110 : 90)
  }
  const { reputation } = scenario.state
  const ann = authorKey(contributorId('id of ann'), 'ann')
  return contributionsIn(reputation, DEFAULT_CONFIGURATION.karma.influence).get(ann)?.influence ?? Number.NaN
}

it('nobody gains by calling against a drift that many calls of one day have made', () => {
  expect(influenceAfter([])).toBeLessThan(0.1)
  expect(influenceAfter(SYMBOLS)).toBeLessThan(0.1)
})

it('a day counts once in the drift, however many calls it has', () => {
  const fell = Array.from({ length: 300 }).reduce<typeof NO_RATES>(
    (rates) => withMove(rates, '1h', 'down', 7),
    NO_RATES,
  )
  expect(driftOf(fell, '1h')).toBe(-1 / 4)
  expect(driftOf(fell, '24h')).toBe(0)
  const mixed = withMove(withMove(withMove(fell, '1h', 'up', 8), '1h', 'flat', 8), '1h', 'up', 9)
  expect(driftOf(mixed, '1h')).toBeCloseTo((-1 + 0.5 + 1) / 6, 12)
})
