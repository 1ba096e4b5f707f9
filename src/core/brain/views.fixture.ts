import fc from 'fast-check'
import type { JsonObject } from '../shared/json.ts'
import {
  builtin,
  contributor,
  MINUTE_MS,
  registered,
  signalOf,
  type BrainSignal,
} from './scenario.fixture.ts'
import type { Author } from './authors.ts'

type Mirror = 1 | -1

/** A view on ETH, which can be mirrored to its exact opposite. */
export interface View {
  readonly kind: string
  readonly author: Author
  readonly ageMs: number
  readonly payloadOf: (mirror: Mirror) => JsonObject
}

/** Suffix of the names of authors without any open call. */
const OVER = '-over'

export const signalsOf = (views: readonly View[], mirror: Mirror = 1): readonly BrainSignal[] =>
  views.map(({ kind, author, ageMs, payloadOf }, index) =>
    signalOf(kind, payloadOf(mirror), {
      id: `s${index}`,
      author,
      ageMs,
      isOver: author.id.endsWith(OVER),
    }),
  )

const whole = (reach: number) => fc.integer({ min: -reach, max: reach })

const size = fc.integer({ min: 0, max: 9 })

type Payloads = fc.Arbitrary<View['payloadOf']>

// Distances from neutral are whole numbers and powers of two, so that mirroring is exact to the bit.
const PAYLOADS: Readonly<Record<string, Payloads>> = {
  ta: fc
    .tuple(whole(50), whole(64), size, whole(64), whole(8), size, size)
    .map(([rsi, trend, volumeRatio, band, average, high, low]) => (mirror) => ({
      rsi_14: 50 + mirror * rsi,
      trend_strength: (mirror * trend) / 64,
      volume_ratio: volumeRatio,
      bb_position: 0.5 + (mirror * band) / 128,
      ema_20: 64 + (mirror * average) / 4,
      ema_50: 64,
      resistance_distance: mirror === 1 ? high : low,
      support_distance: mirror === 1 ? low : high,
    })),
  orderbook: whole(64).map((imbalance) => (mirror) => ({ imbalance: (mirror * imbalance) / 64 })),
  onchain: fc
    .tuple(whole(50), whole(50), whole(15), whole(30))
    .map(([whale, exchange, momentum, users]) => (mirror) => ({
      whale_netflow: mirror * whale * 1e6,
      exchange_flow: mirror * exchange * 1e6,
      price_momentum_24h: mirror * momentum,
      active_addresses_change: mirror * users,
      volume_24h_usd: 2e9,
    })),
  whale: fc.tuple(whole(50), whole(8)).map(([netflow, holders]) => (mirror) => ({
    smart_money_netflow: mirror * netflow * 1e6,
    top_holders_change: mirror * holders,
  })),
  stablecoin: fc.tuple(whole(2), whole(4)).map(([day, week]) => (mirror) => ({
    stablecoin: 'USDT',
    supply_change_24h: mirror * day,
    supply_change_7d: mirror * week,
  })),
  tradfi: fc.tuple(whole(40), whole(12), whole(3)).map(([funding, basis, meltup]) => (mirror) => ({
    funding_annualized: 10 + mirror * funding,
    basis_annualized: 5 + mirror * basis,
    meltup_score: 2 + mirror * meltup,
  })),
  etf: fc.tuple(whole(30), whole(12), whole(150)).map(([day, streak, week]) => (mirror) => ({
    daily_flow_usd: mirror * day * 1e6,
    streak_days: mirror * streak,
    cumulative_7d: mirror * week * 1e6,
  })),
  social: fc.tuple(whole(10), fc.boolean()).map(([score, echo]) => (mirror) => ({
    score: mirror * score,
    echo_chamber_flag: echo,
  })),
  sentiment: whole(50).map((mood) => (mirror) => ({ fear_greed: 50 + mirror * mood })),
  aci: fc.tuple(whole(10), size, size).map(([consensus, dispersion, responded]) => (mirror) => ({
    consensus_score: mirror * consensus,
    dispersion,
    models_queried: 9,
    models_responded: responded,
  })),
  events: fc.tuple(whole(64), size).map(([mood, impact]) => (mirror) => ({
    headline_sentiment: (mirror * mood) / 64,
    impact_score: impact / 9,
  })),
  curator: whole(10).map((call) => (mirror) => ({
    direction: mirror * call >= 0 ? 'bullish' : 'bearish',
    conviction: Math.abs(call),
  })),
}

export const KINDS: readonly string[] = Object.keys(PAYLOADS)

const worths = fc.constantFrom([0, 1] as const, [0.4, 0.5] as const, [3, 0.1] as const, [12, 0.02] as const)

const ends = fc.constantFrom('', OVER)

// Two authors with the same name must have the same standing.
const authors: fc.Arbitrary<Author> = fc.oneof(
  fc.constant(builtin('house')),
  fc
    .tuple(worths, ends)
    .map(([[influence, newcomer], end]) =>
      registered(`p${influence}${end}`, { worth: { influence, newcomer, groupId: null } }),
    ),
  fc.tuple(worths, fc.constantFrom(null, 'gang'), ends).map(([[influence, newcomer], groupId, end]) => ({
    ...contributor(`a${influence}${groupId}${end}`),
    worth: { influence, newcomer, groupId },
  })),
)

export const viewOf = (kind: string, author: fc.Arbitrary<Author> = authors): fc.Arbitrary<View> =>
  fc.record({
    kind: fc.constant(kind),
    author,
    ageMs: fc.integer({ min: 0, max: 70 }).map((minutes) => minutes * MINUTE_MS),
    payloadOf: PAYLOADS[kind] as Payloads,
  })

export const views = fc.array(
  fc.constantFrom(...KINDS).chain((kind) => viewOf(kind)),
  { maxLength: 12 },
)
