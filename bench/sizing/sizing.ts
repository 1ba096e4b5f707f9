import { createDraws } from '../../src/adapters/feeds/simulated/draws.ts'
import { DEFAULT_CONFIGURATION } from '../../src/core/config/validate.ts'
import { usdFrom } from '../../src/core/shared/money.ts'
import { DAY_MS, timestampAt } from '../../src/core/shared/time.ts'
import { kellyEstimate, type TradeReturn, type KellyRules } from '../../src/core/trading/risk/kelly.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import type { BenchRow } from '../harness.ts'
import { intervalOf, meanOf } from '../learning/statistics.ts'

/**
 * Seeds on which the settings are compared. Their results are reported on other seeds, which took no part in the
 * choice.
 */
const TRAINING = { first: 1, count: 60 }
/**
 * Reported seeds. Thirty seeds from 1001 on were used first, but growth differs by more than that from one life to the
 * next.
 */
const REPORT = { first: 2001, count: 200 }

const DEFAULTS = DEFAULT_CONFIGURATION.risk.kelly
/** Rules as before fading and the floor were introduced, except for the payoff. */
const UNFADING: KellyRules = { ...DEFAULTS, half_life_trades: 1e9, half_life_days: 1e9, floor: 0 }

const CANDIDATES: readonly KellyRules[] = [10, 20, 40].flatMap((prior) =>
  [20, 40].flatMap((half_life_trades) =>
    [30, 90].flatMap((half_life_days) =>
      [0, 0.005].map((floor) => ({ ...DEFAULTS, prior, half_life_trades, half_life_days, floor })),
    ),
  ),
)

/**
 * Sizes in Kelly's own game: a loss costs about the stake, a win pays a multiple of it, and the growth of the logarithm
 * of equity counts. Skill is unknown, mostly small, and changes from time to time. Wins are rare and large, or frequent
 * and small.
 */
export const benchSizing = (quick: boolean): readonly BenchRow[] => {
  const training = seedsOf(TRAINING, quick)
  const trained = [UNFADING, ...CANDIDATES].map((rules) => ({
    rules,
    growth: meanOf(livesOf(rules, training).map(({ growth }) => growth)),
  }))
  trained.sort((one, other) => other.growth - one.growth)
  for (const { rules, growth } of trained)
    process.stdout.write(`training  ${textOf(rules).padEnd(72)} ${growth.toFixed(3)}\n`)
  const best = trained[0]?.growth ?? Number.NaN
  const chosen = trained.find(({ rules }) => textOf(rules) === textOf(DEFAULTS))?.growth ?? Number.NaN
  const report = seedsOf(REPORT, quick)
  const lives = livesOf(DEFAULTS, report)
  const before = livesOf(UNFADING, report)
  const growthBefore = intervalOf(before.map(({ growth }) => growth))
  const gain = intervalOf(lives.map(({ growth }, index) => growth - (before[index]?.growth ?? Number.NaN)))
  const seeds = `seeds ${report[0]} to ${report.at(-1)}`
  return [
    {
      id: 'training',
      what: `growth of the settings (${textOf(DEFAULTS)}) on training seeds, over that of the best candidate`,
      value: chosen / best,
      // Smaller differences are chance: the best setting changes from one set of seeds to the next.
      target: '>= 0.8',
      baseline: `best ${best.toFixed(3)}`,
    },
    {
      id: 'growth',
      what: `log growth more than without fading and floor on ${seeds}, lower end of 95 %`,
      value: gain.low,
      target: '> 0',
      baseline: `mean ${gain.mean.toFixed(3)}, up to ${gain.high.toFixed(3)}; ${growthBefore.mean.toFixed(3)} without`,
    },
    {
      id: 'idle',
      what: `share of trades left out on ${seeds}`,
      value: meanOf(lives.map(({ idle }) => idle)),
      target: '= 0',
      baseline: `${meanOf(before.map(({ idle }) => idle)).toFixed(3)} without`,
    },
  ]
}

const textOf = ({ prior, half_life_trades, half_life_days, floor }: KellyRules): string =>
  `prior ${prior}, half-lives ${half_life_trades} trades and ${half_life_days} days, floor ${floor}`

const seedsOf = ({ first, count }: typeof TRAINING, quick: boolean): readonly number[] =>
  Array.from({ length: quick ? 5 : count }, (_, index) => first + index)

interface Life {
  readonly growth: number
  /** Share of trades that were not made. */
  readonly idle: number
}

const TRADES_A_DAY = [0.5, 4] as const

const livesOf = (rules: KellyRules, seeds: readonly number[]): readonly Life[] =>
  seeds.flatMap((seed) => TRADES_A_DAY.map((perDay) => lifeOf(rules, seed, perDay)))

const TRADES = 250
const CLOSES_KEPT = 50
/** Mean number of trades until the skill changes. */
const SKILL_LASTS = 75
/** Factor of an intent with conviction 80. */
const TRUST = 0.85
/** A smaller stake is below the minimum order size, on an account of 10,000 USD. */
const SMALLEST_STAKE = 0.001
const START_MS = Date.UTC(2026, 0, 1)

const lifeOf = (rules: KellyRules, seed: number, perDay: number): Life => {
  const draws = createDraws(seed, 0, `sizing:${perDay}`, sha256Hex)
  /** A chance of winning, and the payoff that makes a bet worth 5 % of its stake on average, give or take 15 %. */
  const newSkill = () => {
    const chance = 0.35 + 0.3 * draws.uniform()
    return { chance, payoff: Math.max(0.2, (1 - chance + 0.05 + 0.15 * draws.normal()) / chance) }
  }
  let skill = newSkill()
  let closes: readonly TradeReturn[] = []
  let [growth, idle, nowMs] = [0, 0, START_MS]
  for (let trade = 0; trade < TRADES; trade += 1) {
    // The draws do not depend on the stake, so that settings are compared on the same outcomes.
    nowMs += (-Math.log(1 - draws.uniform()) / perDay) * DAY_MS
    if (draws.uniform() < 1 / SKILL_LASTS) skill = newSkill()
    const size = Math.min(3, Math.exp(0.5 * draws.normal() - 0.125))
    const result = (draws.uniform() < skill.chance ? skill.payoff : -1) * size
    const at = timestampAt(Math.round(nowMs))
    const stake = Math.min(0.1, Math.max(rules.floor, kellyEstimate(closes, at, rules).stake * TRUST))
    if (stake < SMALLEST_STAKE) {
      idle += 1
      continue
    }
    growth += Math.log(1 + stake * result)
    closes = [...closes.slice(1 - CLOSES_KEPT), { at, net: usdFrom(result), netReturn: result / 50 }]
  }
  return { growth, idle: idle / TRADES }
}
