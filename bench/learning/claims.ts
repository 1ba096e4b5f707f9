import { median } from '../harness.ts'
import type { LifePlan, LifeReport } from './life.ts'
import type { AuthorSeen, ReliabilityBin } from './observer.ts'
import { GROUPS } from './population.ts'
import { intervalOf, meanOf, signTest, spearman, type Interval } from './statistics.ts'

/** One line of the proof. */
export interface ClaimRow {
  readonly claim: number
  readonly what: string
  readonly value: string
  readonly target: string
  readonly holds: boolean
}

/** An author of known skill, over all seeds. */
export interface SkillPoint {
  readonly name: string
  readonly skill: number
  readonly karmas: readonly number[]
}

export const claimsOf = (reports: readonly LifeReport[]): readonly ClaimRow[] => [
  ...ranking(reports),
  ...influence(reports),
  ...returns(reports),
  ...turning(reports),
  ...calibration(reports),
]

export const skillPoints = (reports: readonly LifeReport[]): readonly SkillPoint[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  const names = lives[0]?.authors.map(({ name }) => name).filter((name) => RANKED.test(name)) ?? []
  return names.map((name) => {
    const seen = lives.flatMap(({ authors }) => authors.find((author) => author.name === name) ?? [])
    return { name, skill: skillOf(seen), karmas: seen.map(karmaOf) }
  })
}

/** Net return with learning minus the same life without it, by seed. */
export const gainsOf = (reports: readonly LifeReport[], market: LifePlan['market']): readonly number[] => {
  const without = new Map(
    livesOf(reports, { market, learning: false, population: 'all' }).map(({ plan, netReturn }) => [
      plan.seed,
      netReturn,
    ]),
  )
  return livesOf(reports, { market, learning: true, population: 'all' }).flatMap(({ plan, netReturn }) => {
    const other = without.get(plan.seed)
    return other === undefined ? [] : [netReturn - other]
  })
}

export const binsOf = (
  reports: readonly LifeReport[],
  whose: 'engineBins' | 'authorBins',
): readonly ReliabilityBin[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  return (lives[0]?.[whose] ?? []).map((_, place) =>
    summed(lives.flatMap((life) => life[whose][place] ?? [])),
  )
}

/** Share of the one that turned, relative to before, by calls resolved since; the mean over seeds. */
export const turnedCourse = (reports: readonly LifeReport[], calls: number): readonly number[] => {
  const turned = livesOf(reports, { market: 'default', learning: true, population: 'all' }).flatMap(
    (life) => life.turned ?? [],
  )
  return Array.from({ length: calls }, (_, index) =>
    meanOf(turned.flatMap(({ shares, shareBefore }) => relative(shares[index], shareBefore))),
  )
}

const CALLS_TO_HALF = 40

/** All but groups, the turncoat and producers, which differ in more than skill. */
const RANKED = /^(good-|useless-|anti-|late$|copied$)/

const ranking = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const points = skillPoints(reports)
  const seeds = points[0]?.karmas.length ?? 0
  const skills = points.map(({ skill }) => skill)
  const ranks = intervalOf(
    Array.from({ length: seeds }, (_, seed) =>
      spearman(
        skills,
        points.map(({ karmas }) => karmas[seed] ?? Number.NaN),
      ),
    ),
  )
  const useless = points.filter(({ name }) => name.startsWith('useless-')).flatMap(({ karmas }) => karmas)
  const within = useless.filter((karma) => Math.abs(karma - 50) <= 10).length / useless.length
  const furthest = Math.max(...useless.map((karma) => Math.abs(karma - 50)))
  return [
    row(
      1,
      'rank correlation of true skill and karma after 200 calls',
      shown(ranks),
      '≥ 0.85',
      ranks.mean >= 0.85,
    ),
    row(
      1,
      `useless authors within 50 ± 10, of ${useless.length} (the furthest is ${furthest.toFixed(1)} away)`,
      `${(within * 100).toFixed(1)} %`,
      '100 %',
      within === 1,
    ),
  ]
}

const influence = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  const alone = new Map(
    livesOf(reports, { market: 'default', learning: true, population: 'alone' }).map((life) => [
      life.plan.seed,
      life,
    ]),
  )
  const spam = livesOf(reports, { market: 'default', learning: true, population: 'spam' })
  const gained = intervalOf(spam.map((life) => scoreOf(life, 'spammer') - scoreOf(life, 'quiet')))
  return [
    ...Object.entries(GROUPS).map(([name, members]) => {
      const [first = ''] = members
      const together = lives.map((life) => sumOf(members.map((member) => shareOf(life, member))))
      // The same author on the same seed, without its copies: luck is the same for both.
      const single = lives
        .map(({ plan }) => alone.get(plan.seed))
        .map((life) => (life === undefined ? Number.NaN : shareOf(life, first)))
      const ratio = meanOf(together) / meanOf(single)
      const what = `combined share of the ${name} group over that of one of them, had it been alone`
      return row(2, what, ratio.toFixed(3), '≤ 1.02', ratio <= 1.02)
    }),
    row(2, 'points gained by speaking 100 times as often', shown(gained), '< 2', gained.mean < 2),
  ]
}

const returns = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const skilled = gainsOf(reports, 'default')
  const blind = gainsOf(reports, 'walk')
  const gain = intervalOf(skilled)
  const [found, nothing] = [signTest(skilled), signTest(blind)]
  return [
    row(3, 'net return gained by learning', percent(gain), '> 0', gain.mean > 0),
    row(3, `sign test over ${skilled.length} seeds`, probability(found), 'p < 0.05', found < 0.05),
    row(
      3,
      `net return gained where there is nothing to learn, ${blind.length} seeds`,
      `${percent(intervalOf(blind))}, ${probability(nothing)}`,
      'p ≥ 0.05',
      nothing >= 0.05,
    ),
  ]
}

const turning = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const calls = livesOf(reports, { market: 'default', learning: true, population: 'all' }).flatMap(
    ({ turned }) => (turned === null ? [] : [turned.callsToHalf ?? Infinity]),
  )
  const inTime = calls.filter((count) => count <= CALLS_TO_HALF).length / calls.length
  const middle = median(calls)
  return [
    row(
      4,
      'calls until the share of an author that turned bad has halved, median',
      String(middle),
      '≤ 40',
      middle <= 40,
    ),
    row(
      4,
      'seeds in which it took no more than 40',
      `${(inTime * 100).toFixed(0)} %`,
      '≥ 90 %',
      inTime >= 0.9,
    ),
  ]
}

const calibration = (reports: readonly LifeReport[]): readonly ClaimRow[] =>
  (['engineBins', 'authorBins'] as const).map((whose) => {
    const all = summed(binsOf(reports, whose))
    const brier = all.squares / all.count
    const who = whose === 'engineBins' ? "the engine's convictions" : "the authors' own words"
    return row(
      5,
      `Brier score of ${who}, ${all.count} cases`,
      brier.toFixed(4),
      TARGET_BRIER[whose],
      whose === 'authorBins' || brier < 0.25,
    )
  })

/** A coin has 0.25. What authors claim of themselves is theirs. */
const TARGET_BRIER = { engineBins: '< 0.25', authorBins: 'for comparison' } as const

const livesOf = (
  reports: readonly LifeReport[],
  wanted: Pick<LifePlan, 'market' | 'learning' | 'population'>,
): readonly LifeReport[] =>
  reports.filter(
    ({ plan }) =>
      plan.market === wanted.market &&
      plan.learning === wanted.learning &&
      plan.population === wanted.population,
  )

/** As far as words can tell: in steps of 0.05, so that equals are equals. */
const skillOf = (seen: readonly AuthorSeen[]): number =>
  Math.round(meanOf(seen.map(({ right, words }) => (2 * right) / words - 1)) * 20) / 20

const karmaOf = ({ karmaAfterCalls, karma }: AuthorSeen): number => karmaAfterCalls ?? karma

const shareOf = ({ authors }: LifeReport, name: string): number =>
  authors.find((author) => author.name === name)?.share ?? Number.NaN

const scoreOf = ({ authors }: LifeReport, name: string): number =>
  authors.find((author) => author.name === name)?.score ?? Number.NaN

const summed = (bins: readonly ReliabilityBin[]): ReliabilityBin => ({
  count: sumOf(bins.map(({ count }) => count)),
  probabilities: sumOf(bins.map(({ probabilities }) => probabilities)),
  hits: sumOf(bins.map(({ hits }) => hits)),
  squares: sumOf(bins.map(({ squares }) => squares)),
})

const relative = (share: number | undefined, before: number): readonly number[] =>
  share === undefined || before <= 0 ? [] : [share / before]

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

const row = (claim: number, what: string, value: string, target: string, holds: boolean): ClaimRow => ({
  claim,
  what,
  value,
  target,
  holds,
})

const shown = ({ mean, low, high }: Interval): string =>
  `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`

const percent = ({ mean, low, high }: Interval): string =>
  `${(mean * 100).toFixed(3)} % (${(low * 100).toFixed(3)} to ${(high * 100).toFixed(3)})`

const probability = (value: number): string => `p ${value < 0.0001 ? '< 0.0001' : `= ${value.toFixed(4)}`}`
