import { mkdirSync, writeFileSync } from 'node:fs'
import type { BenchRow } from '../harness.ts'
import { claimsOf } from './claims.ts'
import type { LifePlan } from './life.ts'
import { liveAll } from './lives.ts'
import { plotOf } from './plot.ts'
import { claimsText, markdownOf } from './report.ts'

const SEEDS = 30
/** Formulas were chosen while looking at seeds from 1: what they are worth is shown on others. */
const FIRST_SEED = 31
/** Enough for two hundred calls of everybody. */
const DAYS = 50
const SPAM_DAYS = 43

/**
 * Whether the engine learns: authors of known skill, with learning and without, in a market that can be foretold and in
 * one that cannot. The same seeds give the same table and the same plot.
 */
export const benchLearning = async (quick: boolean): Promise<readonly BenchRow[]> => {
  const plans = plansOf(quick ? 3 : SEEDS)
  const begun = performance.now()
  const reports = await liveAll(plans, (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${plans.length} lives`)
  })
  if (process.stderr.isTTY) process.stderr.write('\n')
  const seconds = (performance.now() - begun) / 1000
  const claims = claimsOf(reports)
  process.stdout.write(`${claimsText(claims)}\n`)
  mkdirSync('bench/results', { recursive: true })
  writeFileSync('bench/results/learning.md', markdownOf(reports, claims))
  writeFileSync('bench/results/learning.svg', plotOf(reports))
  return [
    {
      id: 'claims',
      what: 'claims about learning that hold; table and plot: bench/results/learning.md, learning.svg',
      value: claims.filter(({ holds }) => holds).length,
      target: `= ${claims.length}`,
      baseline: `${plans.length} lives in ${seconds.toFixed(0)} s`,
    },
  ]
}

const plansOf = (seeds: number): readonly LifePlan[] =>
  Array.from({ length: seeds }, (_, index) => FIRST_SEED + index).flatMap((seed): readonly LifePlan[] => [
    ...(['default', 'walk'] as const).flatMap((market) =>
      [true, false].map((learning) => ({ seed, market, learning, population: 'all' as const, days: DAYS })),
    ),
    { seed, market: 'default', learning: true, population: 'alone', days: DAYS },
    { seed, market: 'default', learning: true, population: 'spam', days: SPAM_DAYS },
  ])
