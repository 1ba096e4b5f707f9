import { clamp } from '../../../core/shared/numbers.ts'
import type { Asset, StepConstants } from './constants.ts'
import type { Draws } from './draws.ts'
import type { MarketState } from './market-state.ts'

/** One symbol after a step. */
export interface SymbolState {
  /** Not rounded: see `shownPrice`. */
  readonly price: number
  /** The symbol's own part of the swing that reverts. */
  readonly swing: number
  /** What funding, basis and mood move around, following the phase. */
  readonly fundingLevel: number
  readonly basisLevel: number
  readonly moodLevel: number
  /** Of the last step, as the world sees it. */
  readonly quoteVolume: number
  readonly fundingAnnualized: number
  readonly basisAnnualized: number
  readonly fearGreed: number
  readonly imbalance: number
}

/** Where a symbol begins: its own values only, so that no other symbol changes its path. */
export interface SymbolStart {
  readonly price: number
  readonly funding: number
  readonly basis: number
  readonly fearGreed: number
}

export const firstSymbol = ({ price, funding, basis, fearGreed }: SymbolStart): SymbolState => ({
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

/** One step. The draws and their order are part of the path: changing either changes every price. */
export const nextSymbol = (
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

/** A longer price has more digits than a price on the wire can hold exactly. */
const PRICE_MAX = 1e12

const bounded = (value: number, max: number): number => Math.max(-max, Math.min(max, value))

/** The first terms of exp(): prices stay positive without a library function. */
const growthOf = (stepReturn: number): number => 1 + stepReturn + (stepReturn * stepReturn) / 2

const jumpsPerDay = (market: MarketState, sim: StepConstants['sim']): number =>
  market.phase === 'crisis' ? sim.crisis_jumps_per_day : sim.jumps_per_day
