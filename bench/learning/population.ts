import { createDraws, type Draws } from '../../src/adapters/feeds/simulated/draws.ts'
import type { JsonObject } from '../../src/core/shared/json.ts'
import { sha256Hex } from '../../src/engine/sha256.ts'
import type { Course } from './course.ts'

/** How an author comes to what it says. `skill`: from -1, always wrong, to 1, always right about the next day. */
export type BrainState =
  | { readonly kind: 'own'; readonly skill: number }
  /** Knows it half a day after it began. */
  | { readonly kind: 'late'; readonly skill: number }
  /** Says what another says, a little later. */
  | { readonly kind: 'copy'; readonly of: string }
  /** Becomes the opposite of what it was. */
  | { readonly kind: 'turning'; readonly skill: number }

export interface AuthorPlan {
  readonly name: string
  readonly role: 'contributor' | Source
  readonly brain: BrainState
  /** Bars between two words on the same symbol. */
  readonly everyBars: number
  /** Words at a time. */
  readonly times: number
}

/** Where producers speak, and how they put it. */
export type Source = 'onchain' | 'social' | 'events' | 'etf'

/** A little more than a day: the call before has been judged. */
const DAILY = 25
const TWICE_A_DAY = 12

const own = (skill: number): BrainState => ({ kind: 'own', skill })

const person = (name: string, brain: BrainState): AuthorPlan => ({
  name,
  role: 'contributor',
  brain,
  everyBars: DAILY,
  times: 1,
})

const producer = (name: string, role: Source, skill: number): AuthorPlan => ({
  name,
  role,
  brain: own(skill),
  everyBars: TWICE_A_DAY,
  times: 1,
})

const SYBILS = Array.from({ length: 5 }, (_, index) => `sybil-${index + 1}`)

/** In the order in which they speak: who is copied comes before who copies. */
export const POPULATION: readonly AuthorPlan[] = [
  person('good-60', own(0.6)),
  person('good-45', own(0.45)),
  person('good-30', own(0.3)),
  person('good-15', own(0.15)),
  person('useless-1', own(0)),
  person('useless-2', own(0)),
  person('useless-3', own(0)),
  person('anti-30', own(-0.3)),
  person('anti-50', own(-0.5)),
  person('late', { kind: 'late', skill: 0.6 }),
  person('copied', own(0.3)),
  person('copycat', { kind: 'copy', of: 'copied' }),
  ...SYBILS.map((name, index) => person(name, index === 0 ? own(0.3) : { kind: 'copy', of: 'sybil-1' })),
  person('turncoat', { kind: 'turning', skill: 0.5 }),
  ...(['onchain', 'social', 'events', 'etf'] as const).flatMap((role) => [
    producer(`${role}-good`, role, 0.35),
    producer(`${role}-noise`, role, 0),
    producer(`${role}-anti`, role, -0.35),
  ]),
]

/** The same without those who say what others say. */
export const ORIGINALS: readonly AuthorPlan[] = POPULATION.filter(({ brain }) => brain.kind !== 'copy')

/** Groups whose combined share is held against that of their first member, had it been alone. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  copycat: ['copied', 'copycat'],
  sybil: SYBILS,
}

/** One that speaks a hundred times as often as another of the same skill. */
export const SPAM_POPULATION: readonly AuthorPlan[] = [
  person('quiet', own(0.2)),
  { ...person('spammer', own(0.2)), everyBars: 1, times: 4 },
  person('good-45', own(0.45)),
  person('useless-1', own(0)),
]

export interface Word {
  readonly direction: 1 | -1
  readonly payload: JsonObject
}

/** What one author says, in turn. */
export interface Author {
  readonly plan: AuthorPlan
  speaks(bar: number, symbol: number): boolean
  say(bar: number, symbol: number, turned: boolean): Word
}

/** `blind`: nobody knows anything, as in a market that only wanders. */
export const authorsOf = (
  plans: readonly AuthorPlan[],
  course: Course,
  { seed, blind }: { readonly seed: number; readonly blind: boolean },
): readonly Author[] => {
  const said = new Map<string, Word>()
  const slots = new Map<string, number>()
  return plans.map((plan) => {
    const draws = createDraws(seed, 1, `author:${plan.name}`, sha256Hex)
    const leader = plan.brain.kind === 'copy' ? plan.brain.of : plan.name
    const slotOf = (symbol: number): number => {
      const key = `${leader}|${symbol}`
      const known = slots.get(key) ?? Math.floor(draws.uniform() * plan.everyBars)
      slots.set(key, known)
      return known
    }
    return {
      plan,
      speaks: (bar, symbol) => bar % plan.everyBars === slotOf(symbol) % plan.everyBars,
      say: (bar, symbol, turned) => {
        const { brain } = plan
        const copied = brain.kind === 'copy' ? said.get(`${brain.of}|${symbol}`) : undefined
        const direction =
          copied?.direction ?? directionOf(brain, course, { bar, symbol, turned, blind, draws })
        const word = {
          direction,
          payload: wordsOf(plan.role, direction, course.symbols[symbol] ?? '', draws),
        }
        said.set(`${plan.name}|${symbol}`, word)
        return word
      },
    }
  })
}

/** The day that a word is about. */
export const AHEAD_BARS = 25

interface DecisionContext {
  readonly bar: number
  readonly symbol: number
  readonly turned: boolean
  readonly blind: boolean
  readonly draws: Draws
}

const directionOf = (
  brain: BrainState,
  course: Course,
  { bar, symbol, turned, blind, draws }: DecisionContext,
): 1 | -1 => {
  const luck = draws.uniform()
  if (blind || brain.kind === 'copy') return luck < 0.5 ? 1 : -1
  const from = brain.kind === 'late' ? bar - AHEAD_BARS / 2 : bar
  const truth = course.moveSign(Math.max(0, Math.floor(from)), symbol, AHEAD_BARS)
  const skill = brain.kind === 'turning' && turned ? -brain.skill : brain.skill
  return luck < 0.5 + skill / 2 ? truth : truth === 1 ? -1 : 1
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
