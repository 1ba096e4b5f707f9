import type { StepConstants } from './constants.ts'
import type { Draws } from './draws.ts'

export type Phase = 'chop' | 'bull' | 'bear' | 'crisis'

/** What all symbols share after a step. Nobody outside sees it but by its effect on prices. */
export interface MarketState {
  readonly phase: Phase
  readonly fast: number
  readonly medium: number
  readonly slow: number
  /** The common part of the swing that reverts. */
  readonly swing: number
  /** Of the last step: change of the swing, volatility factor, common shock, mood. */
  readonly swingChange: number
  readonly volatility: number
  readonly shock: number
  readonly mood: number
}

export const FIRST_MARKET: MarketState = {
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

/** One step. The draws and their order are part of the path: changing either changes every price. */
export const nextMarket = (state: MarketState, draws: Draws, constants: StepConstants): MarketState => {
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

/** Cumulative: the first row above the draw is next. */
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

/** exp() by ten squarings: engines differ in the last bit of the library's own. */
const volatilityOf = (logVolatility: number, bursting: number): number => {
  let factor = 1 + (logVolatility - LOG_VOLATILITY_VARIANCE) / 1024
  for (let squaring = 0; squaring < 10; squaring += 1) factor *= factor
  if (bursting < BURST_SHARE) factor *= BURST_FACTOR
  return factor / BURST_MEAN
}

/** 0.36² + 0.36² + 0.30². */
const LOG_VOLATILITY_VARIANCE = 0.3492
const BURST_SHARE = 0.1
const BURST_FACTOR = 2.2
/** Keeps the yearly volatility what the configuration says, in spite of the bursts. */
const BURST_MEAN = 1.17643
