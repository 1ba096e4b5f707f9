import { positionId, timestampOf } from '../../src/core/shared/brand.ts'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { scoreAt } from '../../src/core/reputation/contributor-score.ts'
import { NO_RECORD } from '../../src/core/signals/track-record.ts'
import { reputationOf, trustOf } from '../../src/core/reputation/author-reputation.ts'
import { NO_RECENT_SKILL, recentSkillAfter } from '../../src/core/reputation/outcomes.ts'
import {
  bandOf,
  moveRate,
  NO_RATES,
  tradeRate,
  withMove,
  withTrade,
} from '../../src/core/reputation/base-rates.ts'
import { type Horizon, HORIZON_MS, timestampAt } from '../../src/core/shared/time.ts'

const page = readFileSync(new URL('../../docs/karma.md', import.meta.url), 'utf8')
const { karma: rules, settlement } = DEFAULT_CONFIGURATION

/** The rows of the table whose head begins with this cell. */
const rowsOf = (head: string): readonly (readonly string[])[] => {
  const table = page.split(`\n| ${head} |`)[1]?.split('\n\n')[0] ?? ''
  const rows = table.split('\n').slice(2)
  expect(rows.length).toBeGreaterThan(0)
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** The last cell is the result; the others are what it follows from. */
const expectRows = (head: string, resultOf: (given: readonly string[]) => number): void => {
  for (const row of rowsOf(head)) {
    expect(resultOf(row.slice(0, -1)), row.join(' ')).toBeCloseTo(Number(row.at(-1)), 8)
  }
}

const numbersIn = (text: string): readonly number[] => (text.match(/\d+/g) ?? []).map(Number)
const repeated = <Value>(count: number, start: Value, next: (value: Value) => Value): Value =>
  Array.from({ length: count }).reduce<Value>((value) => next(value), start)

describe('docs/karma.md', () => {
  it('says how wide bands are', () => {
    expectRows('Horizon', ([horizon]) =>
      bandOf(0.004 * Math.sqrt(HORIZON_MS[horizon as Horizon] / 900_000), settlement),
    )
  })

  it('says what base rates are', () => {
    expectRows('Seen so far', ([seen = '']) => {
      const [up = 0, flat = 0, down = 0] = numbersIn(seen)
      const ups = repeated(up, NO_RATES, (rates) => withMove(rates, '24h', 'up'))
      const flats = repeated(flat, ups, (rates) => withMove(rates, '24h', 'flat'))
      const all = repeated(down, flats, (rates) => withMove(rates, '24h', 'down'))
      return moveRate(all, '24h', 'up', settlement.prior)
    })
    expectRows('Trades so far, stop 5 %, target 10 %', ([seen = '']) => {
      const [wins = 0, count = 0] = numbersIn(seen)
      const trades = Array.from({ length: count }).reduce<typeof NO_RATES>(
        (rates, _, index) => withTrade(rates, positionId(`trade-${index}`), index < wins),
        NO_RATES,
      )
      return tradeRate(trades, { prior: settlement.prior, stopPct: 0.05, targetPct: 0.1 })
    })
  })

  it('says what karma is', () => {
    expectRows('Calls', (given) => {
      const [calls = 0, rate = 0, hits = 0] = given.map(Number)
      const sums = { gainMax: calls * (1 - rate), lossMax: calls * rate, weight: calls }
      return reputationOf({ surplus: hits - calls * rate, ...sums }, rules.producer_k)
    })
  })

  it('says what a score is', () => {
    const asOf = timestampOf('2026-02-20T00:00:00.000Z')
    expectRows('Submitted', (given) => {
      const [submitted = 0, accepted = 0, resolved = 0, hitRate = 0, brier = 0, streak = 0, days = 0] =
        given.map(Number)
      const record = {
        ...NO_RECORD,
        submitted,
        accepted,
        resolved,
        hitWeightSum: hitRate * resolved,
        weightSum: resolved,
        brierSum: brier * resolved,
        streakDays: streak,
        lastActiveAt: timestampAt(Date.parse(asOf) - days * 86_400_000),
      }
      return scoreAt(record, asOf, rules).score
    })
  })

  it('says what trust is', () => {
    const outcome = (hit: 0 | 1) => ({ surplus: hit - 0.4, gainMax: 0.6, lossMax: 0.4, weight: 1 })
    expectRows('Hits', (given) => {
      const [hits = 0, misses = 0] = given.map(Number)
      const good = repeated(hits, NO_RECENT_SKILL, (skill) =>
        recentSkillAfter(skill, outcome(1), rules.trust.half_life),
      )
      return trustOf(
        repeated(misses, good, (skill) => recentSkillAfter(skill, outcome(0), rules.trust.half_life)),
        rules,
      )
    })
  })
})
