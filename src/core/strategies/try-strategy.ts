import type { FeedBar } from '../market/bar.ts'
import { openDirectly } from './direct.ts'
import type { AccountFacts } from './run-strategy.ts'
import type {
  AccountView,
  ParameterValues,
  PositionView,
  StrategyDefinition,
  StrategyProposal,
} from './strategy.ts'

/** Input of a trial. Everything that is not given stays constant. */
export interface Trial {
  /** Closing prices, one bar each. The bars have the length of the first timeframe. */
  readonly closes: readonly number[]
  readonly parameters?: ParameterValues
  readonly symbol?: string
  readonly positions?: readonly Partial<PositionView>[]
  readonly account?: Partial<AccountView>
}

/** For tests of strategies: the proposals after each of these bars. */
export const tryStrategy = (
  definition: StrategyDefinition,
  { closes, parameters = {}, symbol = 'BTC', positions = [], account = {} }: Trial,
): readonly (readonly StrategyProposal[])[] => {
  const running = openDirectly(definition, parameters, { analysisSeconds: () => ANALYSIS_SECONDS })
  const { seconds } = running.warmUp
  const facts: AccountFacts = {
    positions: positions.map((position) => ({ ...QUIET_POSITION, symbol, ...position })),
    account: { ...QUIET_ACCOUNT, ...account },
  }
  return closes.map((close, index) => {
    running.add([barOf(symbol, close, index, { seconds, before: closes[index - 1] ?? close })])
    return running.decide(() => facts)
  })
}

const ANALYSIS_SECONDS = 900

const barOf = (
  symbol: string,
  close: number,
  index: number,
  { seconds, before }: { readonly seconds: number; readonly before: number },
): FeedBar => ({
  symbol,
  resolution_s: seconds,
  open_ts: new Date(index * seconds * 1000).toISOString(),
  close_ts: new Date((index + 1) * seconds * 1000).toISOString(),
  open: before,
  high: Math.max(before, close),
  low: Math.min(before, close),
  close,
  volume: 1,
  quote_volume: close,
  funding_annualized: null,
  basis_annualized: null,
  open_interest_usd: null,
  bid_depth_usd: null,
  ask_depth_usd: null,
  fear_greed: null,
  backfill: false,
})

const QUIET_ACCOUNT: AccountView = {
  equityUsd: 10_000,
  exposureUsd: 0,
  dayLoss: 0,
  drawdown: 0,
  killSwitchLevel: 0,
}

const QUIET_POSITION: PositionView = {
  symbol: 'BTC',
  side: 'long',
  own: true,
  entryPrice: 100,
  price: 100,
  quantity: 1,
  notionalUsd: 100,
  unrealizedUsd: 0,
  openedMs: 0,
  stop: null,
  target: null,
}
