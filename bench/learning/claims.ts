import { median } from '../harness.ts'
import type { LifePlan, LifeReport } from './life.ts'
import type { AuthorSeen, ReliabilityBin } from './observer.ts'
import { barOf } from './copies.ts'
import { FREQUENT_GROUP, GROUPS, HONEST_NAMES, POPULATION } from './population.ts'
import { intervalOf, meanOf, signFlipTest, signTest, spearman, type Interval } from './statistics.ts'

/** One row of the results. */
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
  /** How often the author was right, by seed: the count of a perfect judge. */
  readonly rights: readonly number[]
}

export const claimsOf = (reports: readonly LifeReport[]): readonly ClaimRow[] => [
  ...ranking(reports),
  ...influence(reports),
  ...changes(reports),
  ...frequent(reports),
  ...money(reports),
  ...newcomers(reports),
  ...turning(reports),
  ...returns(reports),
  ...calibration(reports),
]

export const skillPoints = (reports: readonly LifeReport[]): readonly SkillPoint[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  return HONEST_NAMES.map((name) => {
    const seen = lives.flatMap(({ authors }) => authors.find((author) => author.name === name) ?? [])
    return {
      name,
      skill: hitOf(name),
      karmas: seen.map(karmaOf),
      rights: seen.map(({ right, words }) => right / words),
    }
  })
}

/** Net return with learning minus the net return of the same life without it, by seed. */
export const gainsOf = (reports: readonly LifeReport[], market: LifePlan['market']): readonly number[] => {
  const without = new Map(
    livesOf(reports, { market, learning: false, population: 'few' }).map(({ plan, netReturn }) => [
      plan.seed,
      netReturn,
    ]),
  )
  return livesOf(reports, { market, learning: true, population: 'few' }).flatMap(({ plan, netReturn }) => {
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

/** Share after this many calls of the second half, divided by the share before it. Over all seeds. */
const shareKept = (
  reports: readonly LifeReport[],
  whose: 'turned' | 'steady',
  calls: number,
): Interval | null => {
  const pairs = livesOf(reports, { market: 'default', learning: true, population: 'all' }).flatMap((life) => {
    const share = life[whose].shares[calls - 1]
    return share === undefined ? [] : [[share, life[whose].shareBefore] as const]
  })
  return pairs.length === 0 ? null : ratioInterval(pairs)
}

/** `shareKept` for each number of calls, as far as a seed has that many. */
export const shareCourse = (
  reports: readonly LifeReport[],
  whose: 'turned' | 'steady',
  calls: number,
): readonly number[] =>
  Array.from({ length: calls }, (_, index) => shareKept(reports, whose, index + 1)?.mean ?? Number.NaN)

const CALLS_TO_HALF = 40

const ranking = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const points = skillPoints(reports)
  const seeds = points[0]?.karmas.length ?? 0
  const skills = points.map(({ skill }) => skill)
  const rankOf = (seen: (point: SkillPoint, seed: number) => number): Interval =>
    intervalOf(
      Array.from({ length: seeds }, (_, seed) =>
        spearman(
          skills,
          points.map((point) => seen(point, seed)),
        ),
      ),
    )
  const ranks = rankOf(({ karmas }, seed) => karmas[seed] ?? Number.NaN)
  const ceiling = rankOf(({ rights }, seed) => rights[seed] ?? Number.NaN)
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  const votes = skillRank(lives, shareMeasure)
  const scores = skillRank(lives, scoreMeasure)
  const coins = COINS.flatMap((name) => lives.map((life) => karmaOf(authorIn(life, name))))
  const within = coins.filter((karma) => Math.abs(karma - 50) <= 10).length / coins.length
  const furthest = Math.max(...coins.map((karma) => Math.abs(karma - 50)))
  return [
    row(
      1,
      `rank correlation of true skill (right in 45 to 60 of 100) and karma after 200 calls; a perfect count of all right words reaches ${shown(ceiling)}`,
      shown(ranks),
      '≥ 0.85',
      ranks.mean >= 0.85,
    ),
    row(
      1,
      'of the rank correlation that a perfect count reaches',
      (ranks.mean / ceiling.mean).toFixed(3),
      '≥ 0.9',
      ranks.mean >= 0.9 * ceiling.mean,
    ),
    row(1, 'rank correlation of true skill and votes', shown(votes), 'for comparison', true),
    row(1, 'rank correlation of true skill and score', shown(scores), 'for comparison', true),
    row(
      1,
      `coin-flippers within 50 ± 10, of ${coins.length} (the furthest is ${furthest.toFixed(1)} away)`,
      `${(within * 100).toFixed(1)} %`,
      '100 %',
      within === 1,
    ),
  ]
}

/**
 * Compares with the same source on the same seed under one name and without copies, so that luck is the same for both.
 * Values are divided by the total of the honest authors, so that one attack does not dilute another.
 */
const ratioOf = (
  reports: readonly LifeReport[],
  members: readonly string[],
  source: string,
  of: Measure,
  { together, alone: other }: Lives = DAILY_LIVES,
): Interval => {
  const alone = livesOf(reports, { market: 'default', learning: true, population: other })
  const pairs = livesOf(reports, { market: 'default', learning: true, population: together }).flatMap(
    (life) => {
      const without = alone.find(({ plan }) => plan.seed === life.plan.seed)
      return without === undefined
        ? []
        : [[partOf(life, members, of), partOf(without, [source], of)] as const]
    },
  )
  return ratioInterval(pairs)
}

/** Populations with several names for one opinion, and with one name. */
interface Lives {
  readonly together: LifePlan['population']
  readonly alone: LifePlan['population']
}

const DAILY_LIVES: Lives = { together: 'all', alone: 'alone' }
const FREQUENT_LIVES: Lives = { together: 'frequent', alone: 'frequent alone' }

type Measure = (author: AuthorSeen) => number

const partOf = (life: LifeReport, members: readonly string[], of: Measure): number =>
  sumOf(members.map((name) => of(authorIn(life, name)))) /
  sumOf(HONEST_NAMES.map((name) => of(authorIn(life, name))))

const shareMeasure: Measure = ({ share }) => share
const moneyMeasure: Measure = ({ money: paid }) => paid
const scoreMeasure: Measure = ({ score }) => score ?? 0

/** Rank correlation between a measure and the skill of the honest authors, in each life. */
const skillRank = (lives: readonly LifeReport[], of: Measure): Interval =>
  intervalOf(
    lives.map((life) =>
      spearman(
        HONEST_NAMES.map(hitOf),
        HONEST_NAMES.map((name) => of(authorIn(life, name))),
      ),
    ),
  )

/**
 * Ratio of means, with its interval by the jackknife. Ratios of single seeds are unusable: a source without luck would
 * divide by nearly zero.
 */
const ratioInterval = (pairs: readonly (readonly [number, number])[]): Interval => {
  const ratio = (some: readonly (readonly [number, number])[]): number =>
    sumOf(some.map(([part]) => part)) / sumOf(some.map(([, whole]) => whole))
  const mean = ratio(pairs)
  const count = pairs.length
  const left = pairs.map((_, out) => ratio(pairs.filter((_pair, place) => place !== out)))
  const middle = meanOf(left)
  const variance = ((count - 1) / count) * sumOf(left.map((value) => (value - middle) ** 2))
  const reach = 1.96 * Math.sqrt(variance)
  return { mean, low: mean - reach, high: mean + reach }
}

const influence = (reports: readonly LifeReport[]): readonly ClaimRow[] =>
  GROUPS.flatMap(({ attack, source, members, isCopied }) => {
    const whose = isCopied ? 'original and copy together' : 'five names for one opinion'
    const inOtherLife = (whom: readonly string[], of: Measure, what: string): ClaimRow =>
      row(
        2,
        `${attack}: ${what}, over that of the source alone in another life`,
        shown(ratioOf(reports, whom, source, of)),
        'for comparison',
        true,
      )
    const moneyInOtherLife = inOtherLife(members, moneyMeasure, `money of ${whose}`)
    if (!isCopied) {
      const vote = ratioOf(reports, members, source, shareMeasure)
      const paid = byBothVotes(reports, members, source)
      const later = byBothVotes(reports, members, source, TWO_WEEKS_BARS)
      const what = `${attack}: money of ${whose}, over that of the source under one name, from the profits of both lives`
      return [
        row(
          2,
          `${attack}: vote of ${whose}, over that of the source alone`,
          shown(vote),
          '≤ 1.1',
          vote.mean <= 1.1,
        ),
        row(2, what, shown(paid), '≤ 1.1', paid.mean <= 1.1),
        row(2, `${attack}: the same after the first two weeks`, shown(later), 'for comparison', true),
        moneyInOtherLife,
      ]
    }
    const vote = sameCycles(reports, members, source)
    const kept = sameCycles(reports, [source], source)
    const together = sameProfits(reports, members, source)
    const without = 'over that of the original without copycats'
    return [
      row(
        2,
        `${attack}: vote of ${whose}, ${without}, in the same cycles`,
        shown(vote),
        '≤ 1.1',
        vote.mean <= 1.1,
      ),
      row(2, `${attack}: what the original keeps of its vote`, shown(kept), '≥ 0.9', kept.mean >= 0.9),
      inOtherLife([source], shareMeasure, 'vote of the original'),
      row(
        2,
        `${attack}: money of ${whose}, ${without}, from the same profits`,
        shown(together),
        '≤ 1.1',
        together.mean <= 1.1,
      ),
      row(
        2,
        `${attack}: money that the original keeps of it`,
        shown(sameProfits(reports, [source], source)),
        'for comparison',
        true,
      ),
      moneyInOtherLife,
    ]
  })

/**
 * Several names cannot be removed from a life so that their source keeps one name. The profits of the life with them
 * and of the life without are therefore shared twice, cycle by cycle: by the votes of one life, and by those of the
 * other. Both lives are used, because the trades of each follow its own votes. The result is divided by the share of
 * the honest authors.
 */
const byBothVotes = (
  reports: readonly LifeReport[],
  members: readonly string[],
  source: string,
  fromBar = 0,
  lives: Lives = DAILY_LIVES,
): Interval => {
  const alone = livesOf(reports, { market: 'default', learning: true, population: lives.alone })
  return ratioInterval(
    livesOf(reports, { market: 'default', learning: true, population: lives.together }).flatMap((life) => {
      const other = alone.find(({ plan }) => plan.seed === life.plan.seed)
      if (other === undefined) return []
      const profits = [...life.books.profits, ...other.books.profits].filter(
        ([place]) => barOf(place) >= fromBar,
      )
      return [[paidBy(life, members, profits), paidBy(other, [source], profits)] as const]
    }),
  )
}

/** Period in which every author was a newcomer without a record. */
const TWO_WEEKS_BARS = 14 * 24

/** Share of some profits that the members would receive by the votes of a life, relative to the honest authors. */
const paidBy = (
  { books: { shares } }: LifeReport,
  members: readonly string[],
  profits: LifeReport['books']['profits'],
): number => {
  const partFor = (name: string): number =>
    sumOf(profits.map(([place, usd]) => usd * (shares[place]?.[name] ?? 0)))
  return sumOf(members.map(partFor)) / sumOf(HONEST_NAMES.map(partFor))
}

/**
 * Two lives trade differently even without an effect of the copycats: their luck differs, and the vote of newcomers is
 * divided among other names. Each profit of one life is therefore shared twice: as it was, and as if the copycats had
 * never spoken.
 */
const sameProfits = (reports: readonly LifeReport[], members: readonly string[], source: string): Interval =>
  ratioInterval(
    livesOf(reports, { market: 'default', learning: true, population: 'all' }).map((life) => {
      const all = sumOf(life.authors.map(moneyMeasure))
      const without = life.paidWithoutCopycats?.[source] ?? 0
      return [sumOf(members.map((name) => moneyMeasure(authorIn(life, name)))) / all, without / all] as const
    }),
  )

/** Like `sameProfits` for votes, cycle by cycle: another life also has other names beside the original. */
const sameCycles = (reports: readonly LifeReport[], members: readonly string[], source: string): Interval =>
  ratioInterval(
    livesOf(reports, { market: 'default', learning: true, population: 'all' }).map(
      ({ votesWithCopycats: votes, votesWithoutCopycats: without }) =>
        [sumOf(members.map((name) => votes[name] ?? 0)), without[source] ?? 0] as const,
    ),
  )

/** Share of the decisions that copycats change. */
const changes = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const changed = intervalOf(
    livesOf(reports, { market: 'default', learning: true, population: 'all' }).map(
      ({ changedByCopycats }) => changedByCopycats,
    ),
  )
  return [row(2, 'decisions of the brain that copycats change', percent(changed), 'for comparison', true)]
}

/** How well the skill of authors is known who make calls again while their earlier calls are open. */
const known = (lives: readonly LifeReport[], who: string): readonly ClaimRow[] => {
  const ranks = skillRank(lives, lastKarma)
  const ceiling = skillRank(lives, ({ right, words }) => right / words)
  const coins = lives.map((life) => lastKarma(authorIn(life, 'coin')))
  const furthest = Math.max(...coins.map((karma) => Math.abs(karma - 50)))
  return [
    row(
      8,
      `rank correlation of true skill and last karma of authors who ${who}; a perfect count reaches ${shown(ceiling)}`,
      shown(ranks),
      'for comparison',
      true,
    ),
    row(
      8,
      `${who}: of the rank correlation that a perfect count reaches`,
      (ranks.mean / ceiling.mean).toFixed(3),
      '≥ 0.9',
      ranks.mean >= 0.9 * ceiling.mean,
    ),
    row(
      8,
      `${who}: rank correlation of skill and votes`,
      shown(skillRank(lives, shareMeasure)),
      'for comparison',
      true,
    ),
    row(
      8,
      `${who}: rank correlation of skill and score`,
      shown(skillRank(lives, scoreMeasure)),
      'for comparison',
      true,
    ),
    row(
      8,
      `${who}: a coin-flipper is within 50 ± 10 (the furthest is ${furthest.toFixed(1)} away)`,
      `${((coins.filter((karma) => Math.abs(karma - 50) <= 10).length / coins.length) * 100).toFixed(1)} %`,
      '100 %',
      furthest <= 10,
    ),
  ]
}

/**
 * Claims about authors who make calls again while their earlier calls are open: they are judged by more than their
 * changes of mind.
 */
const frequent = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const livesWith = (population: LifePlan['population']): readonly LifeReport[] =>
    livesOf(reports, { market: 'default', learning: true, population })
  const { source, members } = FREQUENT_GROUP
  const vote = ratioOf(reports, members, source, shareMeasure, FREQUENT_LIVES)
  const paid = byBothVotes(reports, members, source, 0, FREQUENT_LIVES)
  return [
    ...known(livesWith('frequent'), 'speak every six hours about the next day'),
    ...known(livesWith('repeating'), 'say every three hours what they measure'),
    row(
      8,
      'overlapping turns: vote of five names, over that of the source alone',
      shown(vote),
      '≤ 1.1',
      vote.mean <= 1.1,
    ),
    row(
      8,
      'overlapping turns: money of five names, from the profits of both lives',
      shown(paid),
      '≤ 1.1',
      paid.mean <= 1.1,
    ),
  ]
}

const paid = (life: LifeReport, name: string): number => partOf(life, [name], moneyMeasure)

const money = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  const coin = lives.map((life) => meanOf(COINS.map((name) => paid(life, name))))
  const best = intervalOf(lives.map((life) => paid(life, 'own-14')))
  return [
    row(
      3,
      'money of a coin-flipper, of that of all 14 honest authors',
      shown(intervalOf(coin)),
      'for comparison',
      true,
    ),
    row(3, 'money of the best of them', shown(best), 'for comparison', true),
    ...['spam', 'bull', 'trend', 'hedge', 'pump-1', 'pump-2', 'pump-3'].map((name) => {
      const more = intervalOf(lives.map((life, place) => paid(life, name) - (coin[place] ?? 0)))
      return row(
        3,
        `money of ${name} beyond that of a coin-flipper`,
        shown(more),
        'not above 0',
        more.low <= 0,
      )
    }),
  ]
}

const newcomers = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  const ratio = ratioInterval(
    lives.map((life) => {
      const { shareAfter60, share } = authorIn(life, 'newcomer')
      return [shareAfter60, share] as const
    }),
  )
  return [
    row(
      4,
      'share of a skilled newcomer after 41 to 60 calls, of its final share',
      shown(ratio),
      '≥ 0.5',
      ratio.mean >= 0.5,
    ),
  ]
}

const returns = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const skilled = gainsOf(reports, 'default')
  const blind = gainsOf(reports, 'walk')
  const gain = intervalOf(skilled)
  const [found, nothing] = [signFlipTest(skilled), signFlipTest(blind)]
  const moved = livesOf(reports, { market: 'default', learning: true, population: 'few' }).map(
    ({ weightMoved }) => weightMoved,
  )
  return [
    row(
      6,
      'weight moved to the two domains in which producers know something, from the two in which they do not',
      `${shown(intervalOf(moved))}, ${probability(signTest(moved))}`,
      '> 0, p < 0.05',
      meanOf(moved) > 0 && signTest(moved) < 0.05,
    ),
    row(6, 'net return gained by learning', percent(gain), '> 0', gain.mean > 0),
    row(
      6,
      `sign-flip test of the mean, ${skilled.length} seeds`,
      probability(found),
      'p < 0.05',
      found < 0.05,
    ),
    row(
      6,
      'sign test of the same gains, blind to their size',
      probability(signTest(skilled)),
      'for comparison',
      true,
    ),
    row(
      6,
      `net return gained where there is nothing to learn, ${blind.length} seeds`,
      `${percent(intervalOf(blind))}, ${probability(nothing)}`,
      'p ≥ 0.05',
      nothing >= 0.05,
    ),
    row(6, 'trades there, with learning and without', tradesIn(reports, 'walk'), 'for comparison', true),
    row(6, 'trades where there is something to learn', tradesIn(reports, 'default'), 'for comparison', true),
  ]
}

/** A vote of few names is seldom near 0, so more trades are made, at a higher cost. */
const tradesIn = (reports: readonly LifeReport[], market: LifePlan['market']): string =>
  [true, false]
    .map((learning) => {
      const lives = livesOf(reports, { market, learning, population: 'few' })
      return meanOf(lives.map(({ trades }) => trades)).toFixed(0)
    })
    .join(' and ')

const turning = (reports: readonly LifeReport[]): readonly ClaimRow[] => {
  const lives = livesOf(reports, { market: 'default', learning: true, population: 'all' })
  const callsOf = (whose: 'turned' | 'steady'): readonly number[] =>
    lives.map((life) => life[whose].callsToHalf ?? Infinity)
  const inTime = (whose: 'turned' | 'steady'): string => {
    const calls = callsOf(whose)
    const part = calls.filter((count) => count <= CALLS_TO_HALF).length / calls.length
    return `${(part * 100).toFixed(0)} %`
  }
  const middle = median(callsOf('turned'))
  const kept = shareKept(reports, 'turned', CALLS_TO_HALF) ?? NOTHING
  const steady = shareKept(reports, 'steady', CALLS_TO_HALF) ?? NOTHING
  const whole = `share after ${CALLS_TO_HALF} calls, of that before,`
  return [
    row(
      5,
      'calls until the share of an author that turned bad has halved, median',
      String(middle),
      `≤ ${CALLS_TO_HALF}`,
      middle <= CALLS_TO_HALF,
    ),
    row(5, `${whole} of an author that turned bad`, shown(kept), '≤ 0.5', kept.mean <= 0.5),
    row(5, `${whole} of one that stays as good`, shown(steady), 'for comparison', true),
    row(
      5,
      `seeds in which the share halves within ${CALLS_TO_HALF}`,
      inTime('turned'),
      'for comparison',
      true,
    ),
    row(5, 'seeds in which that of one that stays as good does so', inTime('steady'), 'for comparison', true),
  ]
}

const NOTHING: Interval = { mean: Number.NaN, low: Number.NaN, high: Number.NaN }

const calibration = (reports: readonly LifeReport[]): readonly ClaimRow[] =>
  (['engineBins', 'authorBins'] as const).map((whose) => {
    const all = summed(binsOf(reports, whose))
    const brier = all.squares / all.count
    const who = whose === 'engineBins' ? "the engine's convictions" : "the authors' own words"
    return row(
      7,
      `Brier score of ${who}, ${all.count} cases`,
      brier.toFixed(4),
      TARGET_BRIER[whose],
      whose === 'authorBins' || brier < 0.25,
    )
  })

/** A coin has a Brier score of 0.25. The probabilities that authors state are their own. */
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

const COINS = ['coin-1', 'coin-2', 'coin-3']

const hitOf = (wanted: string): number => {
  const behaviour = POPULATION.find(({ name }) => name === wanted)?.behaviour
  return behaviour?.kind === 'own' ? behaviour.hit : Number.NaN
}

const lastKarma = ({ karma }: AuthorSeen): number => karma
const karmaOf = ({ karmaAfterCalls, karma }: AuthorSeen): number => karmaAfterCalls ?? karma

const authorIn = ({ authors }: LifeReport, wanted: string): AuthorSeen => {
  const found = authors.find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`there is no ${wanted} in this life`)
  return found
}

const summed = (bins: readonly ReliabilityBin[]): ReliabilityBin => ({
  count: sumOf(bins.map(({ count }) => count)),
  probabilities: sumOf(bins.map(({ probabilities }) => probabilities)),
  hits: sumOf(bins.map(({ hits }) => hits)),
  squares: sumOf(bins.map(({ squares }) => squares)),
})

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
