import { clamp01 } from '../shared/numbers.ts'
import { estimatedEdge, type Edge, type EdgeRules, type EstimatedEdge } from './edge.ts'
import { repeatsOf, type Overlaps, type Repeats } from './overlaps.ts'

export interface ContributionRules extends EdgeRules {
  /** Contribution at which an author reaches half of the weight that evidence can give. */
  readonly half_edge: number
  /** Largest weight that evidence can give. For comparison, a single newcomer has the weight 1. */
  readonly scale: number
  /** Sum of outcome spacings at which an author counts half as a newcomer. */
  readonly newcomer_calls: number
}

/** Contribution of an author beyond what other authors had said before. */
export interface Contribution {
  readonly edge: EstimatedEdge
  /** Authors whose calls it repeats, most repeated first. An overlap of 1 means that it adds nothing. */
  readonly repeats: readonly { readonly author: string; readonly overlap: number }[]
  /** Authors whose calls it repeats at any delay. Their influence is deducted from that of this author. */
  readonly follows: readonly Following[]
  /**
   * Part of its knowledge that other authors expressed before it, 0 to 1. The larger it is, the more certain the rest
   * must be.
   */
  readonly borrowed: number
  /** The part of its certain edge that no earlier author accounts for. */
  readonly own: number
  /** Weight of the author in the vote. */
  readonly influence: number
  /** 1 without outcomes, falling with each. All newcomers together have the vote of one. */
  readonly newcomer: number
  /** First of the authors who repeat each other, which may be this author; null for an independent author. */
  readonly group: string | null
}

interface Following {
  readonly author: string
  readonly part: number
  /** Like `part`, less what chance explains; below 1. */
  readonly sure: number
}

export type Contributions = ReadonlyMap<string, Contribution>

/** Contribution of an author before its first call. */
export const NEWCOMER: Contribution = {
  edge: { mean: 0, error: 1, evidence: 0, sure: 0 },
  repeats: [],
  follows: [],
  borrowed: 0,
  own: 0,
  influence: 0,
  newcomer: 1,
  group: null,
}

/** Weight of an author who is the only newcomer. */
export const weightOf = ({ influence, newcomer }: Contribution): number => influence + newcomer

export interface ContributionFacts {
  readonly edges: Iterable<readonly [string, Edge]>
  readonly overlaps: Overlaps
}

/**
 * Computes what each author adds to what earlier authors said. A copy adds nothing, however late and however often it
 * speaks, and several names for one opinion have the weight of one. The passes, in this order:
 *
 * - expect: two skilled authors agree often although neither repeats the other. Only agreement beyond that counts.
 * - order: the author who borrows least comes first.
 * - subtract: deducts from the edge of each author what it repeats of earlier ones.
 * - caution: deducts the uncertainty of the rest, which is larger the more an author borrowed.
 * - follow: deducts from each author the influence of the authors that it follows.
 *
 * Example: two authors have an edge of 0.3. The second repeats 0.9 of the calls of the first, beyond the expected
 * agreement. It keeps 0.3 - 0.9 · 0.3 = 0.03, and caution leaves nothing of that.
 */
export const contributionsOf = (
  { edges, overlaps }: ContributionFacts,
  rules: ContributionRules,
): Contributions => {
  const pairs = pairsOf(repeatsOf(overlaps))
  const judged = judgedFrom(edges, pairs.keys(), rules)
  const agreements = expect(judged, pairs)
  const subtracted = subtract(order(judged, agreements), judged, agreements)
  const contributions = new Map<string, Contribution>()
  for (const [author, rest] of subtracted)
    contributions.set(author, caution(author, rest, judged, agreements, rules))
  return withLeaders(withoutFollowed(contributions))
}

interface JudgedEdge extends EstimatedEdge {
  /** Sum of the spacings of its outcomes. */
  readonly spacings: number
}

type JudgedEdges = ReadonlyMap<string, JudgedEdge>

/** An author without outcomes. */
const UNJUDGED: JudgedEdge = { ...NEWCOMER.edge, spacings: 0 }

const edgeIn = (judged: JudgedEdges, author: string): JudgedEdge => judged.get(author) ?? UNJUDGED

const judgedFrom = (
  edges: ContributionFacts['edges'],
  inPairs: Iterable<string>,
  rules: EdgeRules,
): JudgedEdges => {
  const judged = new Map<string, JudgedEdge>()
  for (const [author, edge] of edges) {
    const { mean, error, evidence, sure } = estimatedEdge(edge, rules)
    judged.set(author, { mean, error, evidence, sure, spacings: edge.spacings })
  }
  for (const author of inPairs) if (!judged.has(author)) judged.set(author, UNJUDGED)
  return judged
}

/** Standard errors that an overlap must exceed to count. */
const OVERLAP_ERRORS = 1.5
/**
 * Like `OVERLAP_ERRORS`, for newcomers. The bound is lower, so that doubt counts against them: they have little weight
 * to lose.
 */
const SUSPICION = 0.75
/** Largest share that leaning explains. The limit keeps several names that always agree detectable. */
const LEAN_MAX = 0.5
/** Overlap from which two authors count as one. */
const SAME = 0.5

/** Overlaps below this may be chance and require no more caution. */
const BORROWED_MIN = 0.15
/** Standard errors deducted in addition from an author who only says what others said before. */
const BORROWED_ERRORS = 2

// Expect: how often would two authors agree if neither repeated the other?

/** Agreement of an author with others, beyond the expected one. */
interface Agreements {
  readonly others: readonly Agreement[]
  readonly follows: readonly Following[]
}

interface Agreement {
  readonly pair: AuthorPair
  /** Part of the author's calls that repeats the other author, beyond the expected agreement. */
  readonly overlap: number
}

const NO_AGREEMENTS: Agreements = { others: [], follows: [] }

const expect = (
  judged: JudgedEdges,
  pairs: ReadonlyMap<string, readonly AuthorPair[]>,
): ReadonlyMap<string, Agreements> => {
  const agreements = new Map<string, Agreements>()
  for (const [author, own] of pairs) {
    const edge = edgeIn(judged, author)
    const others: Agreement[] = []
    const follows: Following[] = []
    for (const pair of own) {
      const expected = expectedAgreement(edge, edgeIn(judged, pair.author), pair.byLean)
      others.push({ pair, overlap: beyond(expected, pair.share, pair.error) })
      const following = followingOf(pair, expected)
      if (following !== null) follows.push(following)
    }
    agreements.set(author, { others, follows })
  }
  return agreements
}

/** Expected share of agreement between two authors, from their skill and their leanings. */
const expectedAgreement = (one: EstimatedEdge, other: EstimatedEdge, byLean: number): number => {
  const bySkill = Math.max(0, one.mean) * Math.max(0, other.mean)
  return bySkill + (1 - bySkill) * byLean
}

/**
 * Part of the agreement beyond the expected one. Two skilled authors, or two that mostly call one direction, agree
 * often although neither repeats the other. An author who only repeats agrees always.
 */
const beyond = (expected: number, share: number, error: number): number =>
  expected >= 1
    ? 0
    : significant((share - expected) / (1 - expected), (OVERLAP_ERRORS * error) / (1 - expected))

/** Share that remains after deducting chance: little of a small share, nearly all of a large one. */
const significant = (share: number, noise: number): number => {
  if (share <= noise || share <= 0) return 0
  const part = noise / share
  return clamp01(share) * (1 - part * part)
}

/**
 * Finds late copies. A late copy overlaps little, because calls are nearly over when it repeats them. It agrees every time, more
 * steadily than
 * the agreement of the original with them. The part is squared, because that is the part of the calls of an author who
 * repeats only some.
 */
const followingOf = (
  { author, after, before, steadyError }: AuthorPair,
  expected: number,
): Following | null => {
  if (!(after >= SAME)) return null
  const usual = Math.max(expected, before)
  const sure = beyond(usual, after, steadyError)
  if (!(sure >= SAME)) return null
  const part = clamp01((after - usual) / (1 - usual))
  return { author, part: part * part, sure: sure * sure }
}

/** Part of the calls of an author that no other author accounts for as the original. */
const originalPart = (agreements: ReadonlyMap<string, Agreements>, author: string): number =>
  1 - (agreements.get(author) ?? NO_AGREEMENTS).follows.reduce((most, { part }) => Math.max(most, part), 0)

// Order: who spoke first?

/**
 * Orders the authors: the one who borrows least comes first. Only calls that an author makes after others count,
 * weighted by the edge of the authors that it repeats. Followers therefore cannot improve the rank of an author, and no
 * author can be forced into the role of a follower. The edge of a follower does not count: otherwise a rival who agrees
 * with a copy by chance would seem to borrow, and the original would gain by being copied.
 */
const order = (judged: JudgedEdges, agreements: ReadonlyMap<string, Agreements>): readonly string[] => {
  const rankOf = (author: string): readonly [borrowed: number, behind: number] => {
    let [borrowed, most] = [0, 0]
    for (const { pair } of (agreements.get(author) ?? NO_AGREEMENTS).others) {
      const { author: other, behind, error } = pair
      const surely = originalPart(agreements, other) * significant(behind, OVERLAP_ERRORS * error)
      borrowed = Math.max(borrowed, surely * edgeIn(judged, other).sure)
      most = Math.max(most, surely)
    }
    return [borrowed, most]
  }
  return [...judged.keys()]
    .map((author) => ({ author, rank: rankOf(author) }))
    .toSorted(
      (one, other) =>
        one.rank[0] - other.rank[0] || one.rank[1] - other.rank[1] || (one.author < other.author ? -1 : 1),
    )
    .map(({ author }) => author)
}

// Subtract: what remains of the edge of an author without what it repeats of earlier authors?

interface Rest {
  /** Edge without what it repeats. May be negative. */
  readonly mean: number
  readonly repeats: Contribution['repeats']
  /** How surely the author is a second name of an earlier one, 0 to 1. */
  readonly suspected: number
  readonly group: string | null
}

const subtract = (
  authors: readonly string[],
  judged: JudgedEdges,
  agreements: ReadonlyMap<string, Agreements>,
): ReadonlyMap<string, Rest> => {
  const rests = new Map<string, Rest>()
  for (const author of authors) {
    const { others, follows } = agreements.get(author) ?? NO_AGREEMENTS
    const repeats: { readonly author: string; readonly overlap: number }[] = []
    let [repeated, suspected, most] = [0, 0, 0]
    let group: string | null = null
    for (const { pair, overlap } of others) {
      const other = pair.author
      const earlier = rests.get(other)
      if (earlier === undefined) continue
      suspected = Math.max(suspected, significant(pair.share, SUSPICION * pair.error))
      if (!(overlap > 0)) continue
      repeats.push({ author: other, overlap })
      // Caution is not deducted here: uncertainty about the original must not benefit its copies.
      repeated += overlap * Math.max(0, earlier.mean)
      if (overlap < SAME || overlap <= most) continue
      most = overlap
      group = earlier.group ?? other
    }
    for (const { sure } of follows) suspected = Math.max(suspected, sure)
    if (repeats.length > 1) repeats.sort((one, other) => other.overlap - one.overlap)
    rests.set(author, { mean: edgeIn(judged, author).mean - repeated, repeats, suspected, group })
  }
  return rests
}

// Caution: how certain is the rest?

const caution = (
  author: string,
  { mean, repeats, suspected, group }: Rest,
  judged: JudgedEdges,
  agreements: ReadonlyMap<string, Agreements>,
  rules: ContributionRules,
): Contribution => {
  const { spacings, ...edge } = edgeIn(judged, author)
  const borrowed = borrowedBy(author, judged, agreements)
  const errors = rules.caution + BORROWED_ERRORS * borrowed
  const own = Math.max(0, mean - errors * edge.error)
  return {
    edge,
    repeats,
    follows: (agreements.get(author) ?? NO_AGREEMENTS).follows,
    borrowed,
    own,
    influence: (rules.scale * own * own) / (own + rules.half_edge),
    newcomer: (1 - suspected) * (rules.newcomer_calls / (rules.newcomer_calls + spacings)),
    group,
  }
}

/** Part of the knowledge of an author that others expressed before it, 0 to 1. */
const borrowedBy = (
  author: string,
  judged: JudgedEdges,
  agreements: ReadonlyMap<string, Agreements>,
): number => {
  const own = edgeIn(judged, author)
  const { others, follows } = agreements.get(author) ?? NO_AGREEMENTS
  let borrowed = 0
  for (const { pair, overlap } of others) {
    const other = pair.author
    const following = follows.find(({ author: followed }) => followed === other)
    const saidBefore = Math.max(following?.part ?? 0, overlap < BORROWED_MIN ? 0 : overlap * partAfter(pair))
    borrowed += originalPart(agreements, other) * saidBefore * knowsAsMuch(edgeIn(judged, other), own)
  }
  return Math.min(1, borrowed)
}

/** Share of the repetition in which this author spoke after the other. */
const partAfter = ({ share, saidAfter }: AuthorPair): number => clamp01(saidAfter / share)

/**
 * How much of the repetition counts as borrowed, by the skill of the repeated author. Of several names for one opinion,
 * each with random mistakes or delays, one always looks lucky, so its edge beyond the others must be more certain than
 * the edge of an independent author. This applies only as far as the others know as much: otherwise names without skill
 * could harm an author by guessing its calls. The ratio is squared, because luck looks like a little skill.
 */
const knowsAsMuch = (other: EstimatedEdge, own: EstimatedEdge): number =>
  own.mean <= 0 ? 0 : clamp01(other.mean / own.mean) ** 2

// Limits of groups.

/** Deducts from a follower the largest influence that it follows, so that an original and its followers count as the
 * strongest of them. The original keeps its influence. */
const withoutFollowed = (contributions: Map<string, Contribution>): Map<string, Contribution> => {
  const reduced: (readonly [string, Contribution])[] = []
  for (const [author, own] of contributions) {
    if (own.follows.length === 0) continue
    const had = own.follows.map(
      ({ author: other, part }) => part * (contributions.get(other)?.influence ?? 0),
    )
    reduced.push([author, { ...own, influence: Math.max(0, own.influence - Math.max(...had)) }])
  }
  for (const [author, own] of reduced) contributions.set(author, own)
  return contributions
}

/** A leader belongs to the group that has its name. */
const withLeaders = (contributions: Map<string, Contribution>): Contributions => {
  const leaders = new Set<string>()
  for (const { group } of contributions.values()) if (group !== null) leaders.add(group)
  for (const leader of leaders) {
    const own = contributions.get(leader)
    if (own !== undefined && own.group === null) contributions.set(leader, { ...own, group: leader })
  }
  return contributions
}

// Sums of the overlaps.

interface AuthorPair {
  readonly author: string
  readonly share: number
  /** Positive for the author of the pair that mostly speaks after the other. */
  readonly behind: number
  /** How far it repeats calls that the other had made before. */
  readonly saidAfter: number
  readonly error: number
  /**
   * Steadiness of its agreement with the other's open calls at any delay, and of the other's agreement with its calls.
   */
  readonly after: number
  readonly before: number
  readonly steadyError: number
  /** Share that the leanings of the two authors explain. */
  readonly byLean: number
}

/**
 * Sums both directions of a pair, because the order of speaking may change from call to call. Sorted by name, because a
 * sum must not depend on the order of a map, which differs after a restart.
 */
const pairsOf = (all: readonly Repeats[]): ReadonlyMap<string, readonly AuthorPair[]> => {
  const sums = new Map<string, Map<string, PairSums>>()
  const add = (author: string, other: string, repeats: Repeats, sign: 1 | -1): void => {
    const { share, shareAtOnce, variance, steady, steadyVariance, byLean } = repeats
    let own = sums.get(author)
    if (own === undefined) {
      own = new Map()
      sums.set(author, own)
    }
    let sum = own.get(other)
    if (sum === undefined) {
      sum = {
        author: other,
        share: 0,
        behind: 0,
        saidAfter: 0,
        error: 0,
        after: 0,
        before: 0,
        steadyError: 0,
        byLean: Math.min(LEAN_MAX, Math.max(0, byLean)),
      }
      own.set(other, sum)
    }
    sum.share += Math.max(0, share)
    sum.error += variance
    sum.behind += sign * shareAtOnce
    if (sign === 1) {
      sum.after = steady
      sum.saidAfter = Math.max(0, shareAtOnce)
    } else sum.before = steady
    sum.steadyError += steadyVariance
  }
  for (const one of all) {
    add(one.later, one.earlier, one, 1)
    add(one.earlier, one.later, one, -1)
  }
  const pairs = new Map<string, readonly AuthorPair[]>()
  for (const [author, own] of sums) {
    const others = [...own.values()]
    for (const sum of others) {
      sum.error = Math.sqrt(sum.error)
      sum.steadyError = Math.sqrt(sum.steadyError)
    }
    pairs.set(author, inOrderOfNames(others))
  }
  return pairs
}

const inOrderOfNames = (pairs: AuthorPair[]): readonly AuthorPair[] =>
  pairs.sort((one, other) => (one.author < other.author ? -1 : 1))

/** A pair during summation: its errors are still squared. */
type PairSums = { -readonly [Member in keyof AuthorPair]: AuthorPair[Member] }
