import { stateAfter } from '../../../test/given.fixture.ts'
import { DEFAULT_CONFIGURATION } from '../config/validate.ts'
import type { NewEvent } from '../events/catalogue.ts'
import { authorKey } from '../shared/author-key.ts'
import { timestampOf } from '../shared/brand.ts'
import { DAY_MS, timestampAt } from '../shared/time.ts'
import type { State } from '../state.ts'
import { HOUR_MS, withItsCall, type Resolved } from './calls.fixture.ts'
import { NEWCOMER, type Contribution, type Contributions } from './contribution.ts'
import { contributionsIn } from './evolve.ts'

const START_MS = Date.parse(timestampOf('2026-01-01T00:00:00.000Z'))
const HORIZON_HOURS = 24
/** A quarter of the usual price move of a day. */
const BAND = 0.0007

export interface Call {
  readonly symbol: number
  /** Hours since the start of the simulation. */
  readonly hour: number
  /** Null for a neutral call. */
  readonly isUp: boolean | null
}

/** Random prices, and authors whose skill is known. */
export class Simulation {
  #random: number

  readonly #prices: readonly (readonly number[])[]

  readonly #days: number

  readonly #symbols: number

  constructor(seed: number, days = 60, symbols = 4) {
    this.#random = seed
    this.#days = days
    this.#symbols = symbols
    this.#prices = Array.from({ length: symbols }, () => {
      let price = 0
      return Array.from({ length: (days + 3) * 24 }, () => (price += 2 * this.chance() - 1))
    })
  }

  /** Pseudo-random number from 0 to 1, determined by the seed. */
  chance(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0
    return this.#random / 2 ** 32
  }

  #priceAt(symbol: number, hour: number): number {
    const prices = this.#prices[symbol] ?? []
    const before = prices[Math.floor(hour)] ?? 0
    return before + (hour % 1) * ((prices[Math.floor(hour) + 1] ?? before) - before)
  }

  moveAfter({ symbol, hour }: Pick<Call, 'symbol' | 'hour'>): number {
    return 0.001 * (this.#priceAt(symbol, hour + HORIZON_HOURS) - this.#priceAt(symbol, hour))
  }

  /** One call a day on each symbol, right with this probability. */
  author(probability: number): readonly Call[] {
    return Array.from({ length: this.#days * this.#symbols }, (_, index) => {
      const symbol = index % this.#symbols
      // A quarter of an hour more than a day, so that the call of the day before has ended.
      const hour = Math.floor(index / this.#symbols) * 24.25 + Math.floor(8 * this.chance()) / 64 + symbol
      const isRight = this.chance() < probability
      return { symbol, hour, isUp: this.moveAfter({ symbol, hour }) > 0 === isRight }
    })
  }

  stateAfter(authors: Readonly<Record<string, readonly Call[]>>, isReversed = false): State {
    const events = Object.entries(authors)
      .flatMap(([author, calls]) =>
        calls.flatMap((call, index) => withItsCall(this.#resolved(author, index, call))),
      )
      .map((event) => (event.type === 'attribution.recorded.v1' ? opened(event) : event))
    const listed = isReversed ? events.toReversed() : events
    return stateAfter(
      listed.toSorted((one, other) => ((one.ts ?? '') < (other.ts ?? '') ? -1 : one.ts === other.ts ? 0 : 1)),
    )
  }

  contributions(authors: Readonly<Record<string, readonly Call[]>>): Contributions {
    return contributionsAfter(this.stateAfter(authors))
  }

  #resolved(author: string, index: number, call: Call): Resolved {
    const moved = this.moveAfter(call)
    const went = call.isUp === true ? moved : -moved
    const openedMs = START_MS + call.hour * HOUR_MS
    return {
      type: 'attribution.resolved.v1',
      source: 'learning',
      ts: timestampAt(openedMs + DAY_MS),
      payload: {
        call_id: `${author} ${index}`,
        signal_ids: [],
        producer_id: author,
        contributor_id: author,
        symbol: `S${call.symbol}`,
        direction: directionOf(call),
        resolved_by: 'horizon',
        position_id: null,
        ref_price: 100,
        exit_price: 100 * (1 + moved),
        return_pct: moved,
        band_pct: BAND,
        hit: call.isUp === null ? Math.abs(moved) <= BAND : went > BAND,
        base_rate: call.isUp === null ? 0.2 : 0.4,
        void_reason: null,
        horizon: '24h',
        opened_at: timestampAt(openedMs),
        due_at: timestampAt(openedMs + DAY_MS),
        probability: 0.7,
      },
    }
  }
}

const directionOf = ({ isUp }: Call): 'bullish' | 'bearish' | 'neutral' => {
  if (isUp === null) return 'neutral'
  return isUp ? 'bullish' : 'bearish'
}

const opened = (event: NewEvent): NewEvent =>
  event.type === 'attribution.recorded.v1' && 'received_at' in event.payload
    ? { ...event, ts: timestampOf(event.payload.received_at) }
    : event

/** Copies of the calls, delayed by this many hours. */
export const later = (calls: readonly Call[], hours: number): readonly Call[] =>
  calls.map((call) => ({ ...call, hour: call.hour + hours }))

export const contributionsAfter = ({ reputation }: State): Contributions =>
  contributionsIn(reputation, DEFAULT_CONFIGURATION.karma.influence)

export const of = (contributions: Contributions, author: string): Contribution =>
  contributions.get(authorKey(author as never, author)) ?? NEWCOMER

export const influenceOf = (contributions: Contributions, ...authors: readonly string[]): number =>
  authors.reduce((sum, author) => sum + of(contributions, author).influence, 0)
