import type { Configuration } from '../../../core/config/schema.ts'
import type { Sha256Hex } from '../../../core/log/hash-chain.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { clamp } from '../../../core/shared/numbers.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import { createDraws, type Draws } from './draws.ts'
import { roundedPrice } from './rounding.ts'

export interface PathStart {
  readonly settings: MarketSettings
  readonly segment: number
  readonly symbols: readonly string[]
  /** Last bars by canonical symbol. */
  readonly lastBars: ReadonlyMap<string, FeedBar>
  readonly sha256Hex: Sha256Hex
}

/** One symbol of the path. Every step replaces its `state`. */
export interface SymbolPath {
  readonly symbol: string
  readonly asset: Asset
  readonly state: SymbolState
  /** Rounded to the tick size. */
  readonly price: number
}

/** A simulated market. It only moves forward. The same seed gives the same path. */
export interface Path {
  readonly symbols: readonly SymbolPath[]
  market(): MarketState
  step(): void
}

export const createPath = ({ settings, segment, symbols, lastBars, sha256Hex }: PathStart): Path => {
  const constants = stepConstantsOf(settings)
  const drawsOf = (stream: string): Draws => createDraws(settings.seed, segment, stream, sha256Hex)
  const marketDraws = drawsOf('market')
  let market = FIRST_MARKET

  const paths = symbols.map((symbol): MutableSymbolPath => {
    const name = canonicalSymbol(symbol)
    const asset = assetOf(settings.sim, name)
    const state = firstStateOf(settings.sim, asset, lastBars.get(name))
    const price = roundedPrice(state.price, asset.tick_size)
    return { symbol, asset, draws: drawsOf(`sym:${name}`), state, price }
  })

  return {
    symbols: paths,
    market: () => market,
    step: () => {
      market = nextMarket(market, marketDraws, constants)
      for (const path of paths) {
        path.state = nextSymbol(path.state, market, path.asset, path.draws, constants)
        path.price = roundedPrice(path.state.price, path.asset.tick_size)
      }
    },
  }
}

interface MutableSymbolPath {
  readonly symbol: string
  readonly asset: Asset
  readonly draws: Draws
  state: SymbolState
  price: number
}

const assetOf = (sim: MarketSettings['sim'], name: string): Asset =>
  Object.hasOwn(sim.assets, name) ? (sim.assets[name] ?? sim.other_assets) : sim.other_assets

/** A later segment continues where the stored one ended, in a sideways market without a swing. */
const firstStateOf = (sim: MarketSettings['sim'], asset: Asset, last: FeedBar | undefined): SymbolState =>
  firstSymbol({
    price: last?.close ?? asset.start_price,
    funding: last?.funding_annualized ?? sim.chop.funding,
    basis: last?.basis_annualized ?? sim.chop.basis,
    fearGreed: last?.fear_greed ?? sim.chop.fear_greed,
  })

export type MarketSettings = Configuration['market']
type Asset = MarketSettings['sim']['other_assets']

/** Constants that are the same for every step. */
interface StepConstants {
  readonly sim: MarketSettings['sim']
  /** Length of one step, in the units that the formulas need. */
  readonly days: number
  readonly years: number
  readonly rootDays: number
  readonly rootYears: number
  /** Share of the distance to the phase's level that side values move per step. */
  readonly follow: number
  /** Share of a swing that reverts per step. */
  readonly reversion: number
  readonly slow: VolatilityPart
  readonly medium: VolatilityPart
  readonly fast: VolatilityPart
  /** Weight of a symbol's own move beside `sim.correlation`. */
  readonly ownShare: number
  readonly walks: boolean
}

/** One of three speeds at which volatility changes. */
interface VolatilityPart {
  readonly memory: number
  readonly noise: number
}

const stepConstantsOf = ({ tick_seconds, profile, sim }: MarketSettings): StepConstants => {
  const days = tick_seconds / 86_400
  const years = days / 365
  return {
    sim,
    days,
    years,
    rootDays: Math.sqrt(days),
    rootYears: Math.sqrt(years),
    follow: Math.min(1, 12 * days),
    reversion: Math.LN2 * days,
    fast: volatilityPart(tick_seconds, 6, 0.36),
    medium: volatilityPart(tick_seconds, 200, 0.36),
    slow: volatilityPart(tick_seconds, 4000, 0.3),
    ownShare: Math.sqrt(1 - sim.correlation * sim.correlation),
    walks: profile === 'walk',
  }
}

const volatilityPart = (tickSeconds: number, halfLifeMinutes: number, deviation: number): VolatilityPart => {
  const memory = Math.max(0, 1 - (Math.LN2 * tickSeconds) / (60 * halfLifeMinutes))
  return { memory, noise: deviation * Math.sqrt(1 - memory * memory) }
}

export type Phase = 'chop' | 'bull' | 'bear' | 'crisis'

/** State that all symbols share after a step. It is visible only through prices. */
export interface MarketState {
  readonly phase: Phase
  readonly fast: number
  readonly medium: number
  readonly slow: number
  /** The common part of the swing that reverts. */
  readonly swing: number
  /** Values of the last step: change of the swing, volatility factor, common shock, mood. */
  readonly swingChange: number
  readonly volatility: number
  readonly shock: number
  readonly mood: number
}

const FIRST_MARKET: MarketState = {
  phase: 'chop',
  fast: 0,
  medium: 0,
  slow: 0,
  swing: 0,
  swingChange: 0,
  volatility: 1,
  shock: 0,
  mood: 0,
}

/**
 * Advances the market by one step. The draws and their order are part of the path: changing either changes every price.
 */
const nextMarket = (state: MarketState, draws: Draws, constants: StepConstants): MarketState => {
  const switching = draws.uniform()
  const choosing = draws.uniform()
  const shock = draws.normal()
  const swinging = draws.normal()
  const mood = draws.normal()
  const fast = constants.fast.memory * state.fast + constants.fast.noise * draws.normal()
  const medium = constants.medium.memory * state.medium + constants.medium.noise * draws.normal()
  const slow = constants.slow.memory * state.slow + constants.slow.noise * draws.normal()
  const volatility = volatilityOf(fast + medium + slow, draws.uniform())
  const swingChange =
    -constants.reversion * state.swing +
    constants.sim.market_swing * constants.rootDays * volatility * swinging
  const switches = switching < constants.days / constants.sim[state.phase].dwell_days
  return {
    phase: switches ? phaseAfter(state.phase, choosing) : state.phase,
    fast,
    medium,
    slow,
    swing: state.swing + swingChange,
    swingChange,
    volatility,
    shock,
    mood,
  }
}

/** Cumulative probabilities: the first row above the draw is the next phase. */
const NEXT_PHASES: Readonly<Record<Phase, readonly (readonly [number, Phase])[]>> = {
  chop: [
    [0.5, 'bull'],
    [0.95, 'bear'],
    [1, 'crisis'],
  ],
  bull: [
    [0.6, 'chop'],
    [0.95, 'bear'],
    [1, 'crisis'],
  ],
  bear: [
    [0.6, 'chop'],
    [0.9, 'bull'],
    [1, 'crisis'],
  ],
  crisis: [
    [0.6, 'bear'],
    [1, 'chop'],
  ],
}

const phaseAfter = (phase: Phase, choosing: number): Phase =>
  NEXT_PHASES[phase].find(([below]) => choosing < below)?.[1] ?? phase

/** exp() by ten squarings: JavaScript engines differ in the last bit of Math.exp. */
const volatilityOf = (logVolatility: number, bursting: number): number => {
  let factor = 1 + (logVolatility - LOG_VOLATILITY_VARIANCE) / 1024
  for (let squaring = 0; squaring < 10; squaring += 1) factor *= factor
  if (bursting < BURST_SHARE) factor *= BURST_FACTOR
  return factor / BURST_MEAN
}

/** Variance of log volatility: 0.36² + 0.36² + 0.30². */
const LOG_VOLATILITY_VARIANCE = 0.3492
const BURST_SHARE = 0.1
const BURST_FACTOR = 2.2
/** Keeps the yearly volatility at the configured value in spite of the bursts. */
const BURST_MEAN = 1.17643

/** State of one symbol after a step. */
export interface SymbolState {
  /** Not rounded, unlike the price that `roundedPrice` returns. */
  readonly price: number
  /** The symbol's own part of the swing that reverts. */
  readonly swing: number
  /** Levels that funding, basis and mood move around, following the phase. */
  readonly fundingLevel: number
  readonly basisLevel: number
  readonly moodLevel: number
  /** Values of the last step, as reported in bars. */
  readonly quoteVolume: number
  readonly fundingAnnualized: number
  readonly basisAnnualized: number
  readonly fearGreed: number
  readonly imbalance: number
}

/** Start values of a symbol. They come from the symbol alone, so that no other symbol changes its path. */
interface SymbolStart {
  readonly price: number
  readonly funding: number
  readonly basis: number
  readonly fearGreed: number
}

const firstSymbol = ({ price, funding, basis, fearGreed }: SymbolStart): SymbolState => ({
  price,
  swing: 0,
  fundingLevel: funding,
  basisLevel: basis,
  moodLevel: fearGreed,
  quoteVolume: 0,
  fundingAnnualized: funding,
  basisAnnualized: basis,
  fearGreed,
  imbalance: 0,
})

/**
 * Advances a symbol by one step. The draws and their order are part of the path: changing either changes every price.
 */
const nextSymbol = (
  state: SymbolState,
  market: MarketState,
  asset: Asset,
  draws: Draws,
  constants: StepConstants,
): SymbolState => {
  const { sim, days, follow } = constants
  const phase = sim[market.phase]
  const ownShock = draws.normal()
  const swinging = draws.normal()
  const fundingNoise = draws.normal()
  const bookNoise = draws.normal()
  const jumping = draws.uniform()
  const jump = draws.normal()
  const trading = draws.uniform()

  const swingChange =
    -constants.reversion * state.swing + sim.symbol_swing * constants.rootDays * market.volatility * swinging
  const swing = state.swing + swingChange
  const stretch = market.swing + swing
  const fundingLevel = state.fundingLevel + follow * (phase.funding - state.fundingLevel)
  const basisLevel = state.basisLevel + follow * (phase.basis - state.basisLevel)
  const moodLevel = state.moodLevel + follow * (phase.fear_greed - state.moodLevel)

  const factor = constants.walks
    ? 1 + bounded(sim.walk_volatility * constants.rootYears * ownShock, sim.step_return_max)
    : growthOf(
        bounded(
          asset.beta * phase.drift * constants.years +
            asset.beta *
              phase.volatility *
              constants.rootYears *
              market.volatility *
              (sim.correlation * market.shock + constants.ownShare * ownShock) +
            market.swingChange +
            swingChange +
            (jumping < jumpsPerDay(market, sim) * days ? sim.jump_size * jump : 0),
          sim.step_return_max,
        ),
      )

  return {
    price: Math.min(PRICE_MAX, state.price * factor),
    swing,
    fundingLevel,
    basisLevel,
    moodLevel,
    quoteVolume:
      asset.volume_usd * days * market.volatility * (0.5 + Math.abs(market.shock)) * (0.5 + trading),
    fundingAnnualized: fundingLevel + 250 * stretch + fundingNoise,
    basisAnnualized: basisLevel + 40 * stretch + 0.2 * fundingNoise,
    fearGreed: Math.max(0, Math.min(100, Math.round(moodLevel + 400 * market.swing + 2 * market.mood))),
    imbalance: clamp(-6 * stretch + 0.25 * bookNoise),
  }
}

/** A larger price would lose digits on the wire. */
const PRICE_MAX = 1e12

const bounded = (value: number, max: number): number => Math.max(-max, Math.min(max, value))

/** The first terms of exp(). Prices stay positive without a library function. */
const growthOf = (stepReturn: number): number => 1 + stepReturn + (stepReturn * stepReturn) / 2

const jumpsPerDay = (market: MarketState, sim: StepConstants['sim']): number =>
  market.phase === 'crisis' ? sim.crisis_jumps_per_day : sim.jumps_per_day
