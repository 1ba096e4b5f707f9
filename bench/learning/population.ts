import { createDraws, type Draws } from '../../src/adapters/feeds/simulated/draws.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import type { Course } from './course.ts'

/** How an author decides. `hit`: how often it is right about the next day. */
export type Behaviour =
  /** `lasts`: number of consecutive bars for which it stays right or wrong, like a measurement that changes slowly. */
  | { readonly kind: 'own'; readonly hit: number; readonly lasts?: number }
  /** Changes its hit rate halfway. */
  | { readonly kind: 'turning'; readonly hit: number; readonly later: number }
  /** Predicts for each symbol the direction of the day before. */
  | { readonly kind: 'trend' }
  | { readonly kind: 'bull' }
  /** Predicts both directions at once. */
  | { readonly kind: 'hedge' }
  /** Predicts that one symbol will rise, and drives its price up for the hour in which the call is judged. */
  | { readonly kind: 'pump' }
  | Copy

interface Copy {
  readonly kind: 'copy'
  readonly of: string
  /** Delay in bars, drawn from this range. */
  readonly delay: readonly [number, number]
  /** How often it reverses the direction, so that it does not look like a copy. */
  readonly flips?: number
  /** Repeats only every n-th signal on a symbol, or every n-th symbol, starting with this one. */
  readonly turn?: Part
  readonly split?: Part
}

interface Part {
  readonly place: number
  readonly of: number
}

export interface AuthorPlan {
  readonly name: string
  readonly role: 'contributor' | Source
  readonly behaviour: Behaviour
  /** Bars between two signals on the same symbol. */
  readonly everyBars: number
  /** Horizon of its signals. Default: the next day. */
  readonly horizon?: Horizon
  /** Symbol of its signals. Default: all symbols. */
  readonly onlySymbol?: number
  /** True for an author that only feeds its copies. */
  readonly silent?: true
  /** Share of all bars after which it joins. */
  readonly joinsAt?: number
}

/** Domains of producers. Each has its own form of payload. */
export type Source = 'onchain' | 'social' | 'events' | 'etf'

/** A little more than a day, so that the previous call has been judged. */
const DAILY = 25
const TWICE_A_DAY = 12
const ALL_THE_TIME = 3
const HALF_A_DAY = 12
/** Four calls a day about the next day. */
const OFTEN = 6

interface Horizon {
  readonly name: '4h'
  /** The horizon in bars, plus one for the time after the close at which all authors submit. */
  readonly aheadBars: number
}

const SHORT: Horizon = { name: '4h', aheadBars: 5 }
/** Interval after which the previous call has been judged. */
const AFTER_SHORT = 6

const own = (hit: number): Behaviour => ({ kind: 'own', hit })

const person = (name: string, behaviour: Behaviour, changes: Partial<AuthorPlan> = {}): AuthorPlan => ({
  name,
  role: 'contributor',
  behaviour,
  everyBars: DAILY,
  ...changes,
})

const producer = (name: string, role: Source, hit: number): AuthorPlan => ({
  name,
  role,
  behaviour: own(hit),
  everyBars: TWICE_A_DAY,
})

/** Right in 45 to 60 of 100 cases: as similar in skill as real authors. */
const HONEST = Array.from({ length: 14 }, (_, index) =>
  person(`own-${String(index + 1).padStart(2, '0')}`, own(0.45 + (0.15 * index) / 13)),
)

/** Hit rate of the authors that are copied. */
const SOURCE_HIT = 0.58
/** A hit rate that few calls show, to test whether taking turns pays, and not luck. */
const SURE_HIT = 0.65
const NAMES = 5

const names = (
  attack: string,
  copyOf: (place: number) => Omit<Copy, 'kind' | 'of'>,
  changes: Partial<AuthorPlan> = {},
  hit = SOURCE_HIT,
): readonly AuthorPlan[] => [
  person(attack, own(hit), { ...changes, silent: true }),
  ...Array.from({ length: NAMES }, (_, place) =>
    person(`${attack}-${place + 1}`, { kind: 'copy', of: attack, ...copyOf(place) }, changes),
  ),
]

const takesTurns = (place: number) => ({ delay: [0, 0], turn: { place, of: NAMES } }) as const

const copied = (attack: string, delay: number): readonly AuthorPlan[] => [
  person(attack, own(SOURCE_HIT)),
  person(`${attack}-copy`, { kind: 'copy', of: attack, delay: [delay, delay] }),
]

/** One opinion under five names, in all the ways to hide it, and originals with one author that copies them. */
const ATTACKS: Readonly<Record<string, readonly AuthorPlan[]>> = {
  same: names('same', () => ({ delay: [0, 0] })),
  delayed: names('delayed', () => ({ delay: [0, 6] })),
  noisy: names('noisy', () => ({ delay: [0, 2], flips: 0.15 })),
  // The source changes its mind while its calls are open, and any of the names may be the first to follow.
  often: names('often', () => ({ delay: [0, 3], flips: 0.1 }), { everyBars: OFTEN, onlySymbol: 2 }, SURE_HIT),
  split: names('split', (place) => ({ delay: [0, 0], split: { place, of: NAMES } })),
  turns: names('turns', takesTurns),
  // A signal stays fresh for longer than these calls last. The number of calls in a day is that of other authors.
  'short turns': names(
    'short',
    takesTurns,
    { horizon: SHORT, everyBars: AFTER_SHORT, onlySymbol: 1 },
    SURE_HIT,
  ),
  'copied at once': copied('at-once', 0),
  'copied 1 h later': copied('after-1h', 1),
  'copied 6 h later': copied('after-6h', 6),
  'copied 12 h later': copied('after-12h', 12),
  'copied 20 h later': copied('after-20h', 20),
}

/** Source and all its names, by attack. */
export const GROUPS = Object.entries(ATTACKS).map(([attack, plans]) => {
  const [source] = plans as [AuthorPlan, ...AuthorPlan[]]
  const members = plans.filter(({ silent }) => silent !== true).map(({ name }) => name)
  return { attack, source: source.name, members, isCopied: source.silent !== true }
})

/** Authors that copy an author who also submits signals. */
export const COPYCATS: ReadonlySet<string> = new Set(
  GROUPS.flatMap(({ isCopied, source, members }) =>
    isCopied ? members.filter((name) => name !== source) : [],
  ),
)

/** Symbol whose price is driven up, and the factor. The pumping authors submit again when its price is back. */
export const PUMP = { symbol: 0, wordPhase: 2, pricePhase: 0, everyBars: DAILY + 2, factor: 1.02 }

/** Only producers of these domains have skill. */
const SKILLED_DOMAINS = ['onchain', 'etf'] as const

/** TURNING is as good as the best honest author until halfway, and then worse than the worst. STEADY stays good. */
export const TURNING = 'turncoat'
export const STEADY = 'own-14'

const OTHERS: readonly AuthorPlan[] = [
  ...[1, 2, 3].map((index) => person(`coin-${index}`, own(0.5))),
  person('bull', { kind: 'bull' }),
  person('trend', { kind: 'trend' }),
  person('hedge', { kind: 'hedge' }),
  person('spam', own(0.5), { everyBars: ALL_THE_TIME }),
  ...[1, 2, 3].map((index) => person(`pump-${index}`, { kind: 'pump' }, { everyBars: PUMP.everyBars })),
  person(TURNING, { kind: 'turning', hit: 0.6, later: 0.45 }),
  person('newcomer', own(0.6), { joinsAt: 0.3 }),
  // Three producers each: with two, both would be at the cap of a share.
  ...SKILLED_DOMAINS.flatMap((role) => [
    producer(`${role}-good-1`, role, 0.6),
    producer(`${role}-good-2`, role, 0.55),
    producer(`${role}-noise`, role, 0.5),
  ]),
  ...(['social', 'events'] as const).flatMap((role) =>
    [1, 2, 3].map((index) => producer(`${role}-noise-${index}`, role, 0.5)),
  ),
]

/** Authors in the order in which they submit: originals come before their copies. */
export const POPULATION: readonly AuthorPlan[] = [...HONEST, ...Object.values(ATTACKS).flat(), ...OTHERS]

/** Authors without copies, with each source under its own name. */
const originalsOf = (plans: readonly AuthorPlan[]): readonly AuthorPlan[] =>
  plans.filter(({ behaviour }) => behaviour.kind !== 'copy').map(({ silent: _silent, ...plan }) => plan)

export const ORIGINALS: readonly AuthorPlan[] = originalsOf(POPULATION)

/** Population without sources and attacks. */
export const FEW: readonly AuthorPlan[] = [...HONEST, ...OTHERS]

const COIN = person('coin', own(0.5))

/**
 * Authors that make a call on one symbol each, long before the previous call has ended: about two hundred calls per
 * author.
 */
const frequently = (plans: readonly AuthorPlan[]): readonly AuthorPlan[] =>
  plans.map((plan, index) => ({ ...plan, everyBars: OFTEN, onlySymbol: index % SYMBOLS }))

const SYMBOLS = 5

/** The names of an opinion take turns. At each turn the calls of the other names are open. */
const FREQUENT_TURNS = names('frequent turns', takesTurns, { everyBars: OFTEN, onlySymbol: 3 }, SURE_HIT)

export const FREQUENT_GROUP = {
  source: 'frequent turns',
  members: FREQUENT_TURNS.filter(({ silent }) => silent !== true).map(({ name }) => name),
} as const

/** Authors that submit every three hours what they measure, and stay right or wrong for half a day. */
export const REPEATING: readonly AuthorPlan[] = [...HONEST, COIN].map((plan) => ({
  ...plan,
  everyBars: ALL_THE_TIME,
  behaviour: { ...plan.behaviour, lasts: HALF_A_DAY },
}))

/** Contributors that make a call about the next day four times a day. Without producers nothing would be traded. */
export const FREQUENT: readonly AuthorPlan[] = [
  ...frequently([...HONEST, COIN]),
  ...FREQUENT_TURNS,
  ...OTHERS.filter(({ role }) => role !== 'contributor'),
]

/** The population without the five names. */
export const FREQUENT_ORIGINALS: readonly AuthorPlan[] = originalsOf(FREQUENT)

export const HONEST_NAMES: readonly string[] = HONEST.map(({ name }) => name)

export interface Word {
  readonly direction: 1 | -1
  readonly payload: JsonObject
}

/** An author that returns its signals for a bar and symbol. */
export interface Author {
  readonly plan: AuthorPlan
  words(bar: number, symbol: number, turned: boolean): readonly Word[]
}

/** `blind`: no author has skill, as in a market that is a random walk. */
export const authorsOf = (
  plans: readonly AuthorPlan[],
  course: Course,
  { seed, blind, barCount }: { readonly seed: number; readonly blind: boolean; readonly barCount: number },
): readonly Author[] => {
  const said = new Said()
  return plans.map((plan): Author => {
    const { behaviour } = plan
    const draws = createDraws(seed, 1, `author:${plan.name}`, sha256Hex)
    // A generator of its own, so that a source has the same luck whether it submits itself or through copies.
    const tone = createDraws(seed, 1, `tone:${plan.name}`, sha256Hex)
    const wordOf = (direction: 1 | -1, symbol: number): Word => ({
      direction,
      payload: {
        ...wordsOf(plan.role, direction, course.symbols[symbol] ?? '', tone),
        ...(plan.horizon === undefined ? {} : { horizon: plan.horizon.name }),
      },
    })
    const aheadBars = plan.horizon?.aheadBars ?? AHEAD_BARS
    if (behaviour.kind === 'copy') {
      const copy = repeated(behaviour, said, draws)
      return { plan, words: (bar, symbol) => copy(bar, symbol).map((direction) => wordOf(direction, symbol)) }
    }
    const slots = course.symbols.map(() => Math.floor(draws.uniform() * plan.everyBars))
    const lucks: number[] = []
    const luckOf = (symbol: number): number => {
      const drawn = draws.uniform()
      if (behaviour.kind !== 'own' || behaviour.lasts === undefined) return drawn
      const before = lucks[symbol]
      const luck = before === undefined || drawn < plan.everyBars / behaviour.lasts ? draws.uniform() : before
      lucks[symbol] = luck
      return luck
    }
    if (behaviour.kind === 'pump') slots.fill(PUMP.wordPhase)
    const firstBar = (plan.joinsAt ?? 0) * barCount
    return {
      plan,
      words: (bar, symbol, turned) => {
        if (bar < firstBar || bar % plan.everyBars !== slots[symbol]) return []
        if (symbol !== (plan.onlySymbol ?? symbol)) return []
        if (behaviour.kind === 'pump') return symbol === PUMP.symbol ? [wordOf(1, symbol)] : []
        if (behaviour.kind === 'hedge') return [wordOf(1, symbol), wordOf(-1, symbol)]
        const direction = directionOf(behaviour, course, {
          bar,
          symbol,
          aheadBars,
          turned,
          blind,
          luck: luckOf(symbol),
        })
        said.add(plan.name, { bar, symbol, direction })
        return plan.silent === true ? [] : [wordOf(direction, symbol)]
      },
    }
  })
}

interface SaidWord {
  readonly bar: number
  readonly symbol: number
  readonly direction: 1 | -1
}

interface NumberedWord extends SaidWord {
  readonly number: number
  /** Number among the signals on the same symbol. */
  readonly numberOnSymbol: number
}

/** Recent signals of the sources, with their numbers. */
class Said {
  readonly #words = new Map<string, NumberedWord[]>()

  add(name: string, word: SaidWord): void {
    const before = this.#words.get(name) ?? []
    const onSymbol = before.findLast(({ symbol }) => symbol === word.symbol)
    before.push({
      ...word,
      number: (before.at(-1)?.number ?? -1) + 1,
      numberOnSymbol: (onSymbol?.numberOnSymbol ?? -1) + 1,
    })
    if (before.length > 2000) before.splice(0, 1000)
    this.#words.set(name, before)
  }

  of(name: string): readonly NumberedWord[] {
    return this.#words.get(name) ?? []
  }
}

/** The directions that a copy repeats in this bar. */
const repeated = (
  behaviour: Copy,
  said: Said,
  draws: Draws,
): ((bar: number, symbol: number) => readonly (1 | -1)[]) => {
  const [soonest, latest] = behaviour.delay
  const waiting: { readonly bar: number; readonly symbol: number; readonly direction: 1 | -1 }[] = []
  let taken = -1
  const isMine = ({ numberOnSymbol, symbol }: NumberedWord): boolean =>
    (behaviour.turn === undefined || numberOnSymbol % behaviour.turn.of === behaviour.turn.place) &&
    (behaviour.split === undefined || symbol % behaviour.split.of === behaviour.split.place)
  return (bar, symbol) => {
    for (const word of said.of(behaviour.of)) {
      if (word.number <= taken) continue
      taken = word.number
      const delay = soonest + Math.round(draws.uniform() * (latest - soonest))
      const isFlipped = draws.uniform() < (behaviour.flips ?? 0)
      if (!isMine(word)) continue
      waiting.push({
        bar: word.bar + delay,
        symbol: word.symbol,
        direction: isFlipped ? (word.direction === 1 ? -1 : 1) : word.direction,
      })
    }
    const due = waiting.filter((word) => word.bar <= bar && word.symbol === symbol)
    for (const word of due) waiting.splice(waiting.indexOf(word), 1)
    return due.map(({ direction }) => direction)
  }
}

/** Number of bars that a signal looks ahead: a day, plus one bar. */
export const AHEAD_BARS = 25

interface DecisionContext {
  readonly bar: number
  readonly symbol: number
  readonly aheadBars: number
  readonly turned: boolean
  readonly blind: boolean
  /** From 0 to 1. */
  readonly luck: number
}

const directionOf = (
  behaviour: Exclude<Behaviour, Copy | { kind: 'hedge' | 'pump' }>,
  course: Course,
  { bar, symbol, aheadBars, turned, blind, luck }: DecisionContext,
): 1 | -1 => {
  if (behaviour.kind === 'bull') return 1
  if (behaviour.kind === 'trend') return course.moveSign(Math.max(0, bar - AHEAD_BARS), symbol, AHEAD_BARS)
  if (blind) return luck < 0.5 ? 1 : -1
  const truth = course.moveSign(bar, symbol, aheadBars)
  const hit = behaviour.kind === 'turning' && turned ? behaviour.later : behaviour.hit
  return luck < hit ? truth : truth === 1 ? -1 : 1
}

const wordsOf = (role: AuthorPlan['role'], direction: 1 | -1, symbol: string, draws: Draws): JsonObject => {
  const strength = 0.3 + 0.6 * draws.uniform()
  switch (role) {
    case 'contributor':
      return {
        symbol,
        direction: direction === 1 ? 'bullish' : 'bearish',
        conviction: Math.round(strength * 100) / 10,
      }
    case 'onchain':
      return { symbol, price_momentum_24h: 10 * strength * direction }
    case 'social':
      return { symbol, score: 10 * strength * direction, direction: 'neutral', source_count: 1 }
    case 'events':
      return { symbol, headline_sentiment: strength * direction, impact_score: 1 }
    case 'etf':
      return { symbol, streak_days: Math.round(10 * strength) * direction }
  }
}
