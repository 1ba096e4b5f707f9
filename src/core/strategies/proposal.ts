import { r9 } from '../shared/numbers.ts'
import {
  StrategyError,
  type Bar,
  type SizeRule,
  type StopRule,
  type StrategyProposal,
  type StrategyView,
  type TargetPosition,
  type TargetRule,
} from './strategy.ts'

export interface PriceHistory {
  readonly symbol: string
  readonly view: Pick<StrategyView, 'bars'>
  /** Length of its bars. */
  readonly seconds: number
}

/** The newest closed bars of the symbol, oldest first. */
const newestOf = ({ symbol, view }: PriceHistory, count: number): readonly Bar[] =>
  view.bars({ symbol, count })

/** Conviction with which the brain opens a position of medium size. */
const DEFAULT_CONVICTION = 75

/** Stops, targets and sizes of all kinds, as shares of the price and of equity. */
export const proposalOf = (wanted: TargetPosition, history: PriceHistory): StrategyProposal => {
  const { side, conviction = DEFAULT_CONVICTION, stop, target, size, reason } = wanted
  const proposal: StrategyProposal = { symbol: history.symbol, side, conviction }
  if (side === 'flat') return reason === undefined ? proposal : { ...proposal, reason }
  // Fast path: most answers have none of these members, and every bar has an answer.
  if (stop === undefined && target === undefined && size === undefined && reason === undefined)
    return proposal
  const stopPct = stop === undefined || stop === null ? stop : stopShare(stop, side, history)
  return {
    ...proposal,
    ...(stopPct === undefined ? {} : { stopPct }),
    ...(typeof stopPct === 'number' && stop?.trailing === true ? { trailingPct: stopPct } : {}),
    ...(target === undefined
      ? {}
      : { targetPct: target === null ? null : targetShare(target, side, history) }),
    ...(stop !== undefined && stop !== null && 'price' in stop ? { stopPrice: stop.price } : {}),
    ...(target !== undefined && target !== null && 'price' in target ? { targetPrice: target.price } : {}),
    ...sizeOf(size, history),
    ...(reason === undefined ? {} : { reason }),
  }
}

const sizeOf = (
  size: SizeRule | undefined,
  history: PriceHistory,
): Pick<StrategyProposal, 'sizePct'> | object => {
  if (size === undefined) return {}
  if (typeof size === 'number') return { sizePct: r9(size) }
  if ('kelly' in size) return {}
  if ('fraction' in size) return { sizePct: r9(size.fraction) }
  const volatility = yearlyVolatility(history, size.bars ?? VOLATILITY_BARS)
  const max = size.max ?? 1
  return { sizePct: r9(volatility === 0 ? max : Math.min(max, size.volatility / volatility)) }
}

const stopShare = (stop: StopRule, side: 'long' | 'short', history: PriceHistory): number => {
  const share = distance(stop, history, side === 'long' ? 'below' : 'above', 'stop')
  // A long cannot lose more than everything.
  if (share >= 1 && side === 'long') throw new StrategyError(`its stop is ${share} of the price away`)
  return share
}

const targetShare = (target: TargetRule, side: 'long' | 'short', history: PriceHistory): number =>
  distance(target, history, side === 'long' ? 'above' : 'below', 'target')

/** Distance of the level from the last close, as a share of it. */
const distance = (
  rule: StopRule | TargetRule,
  history: PriceHistory,
  where: 'above' | 'below',
  what: string,
): number => {
  if ('percent' in rule) return r9(rule.percent / 100)
  const close = lastClose(history)
  if ('atr' in rule) {
    const share = r9((rule.atr * averageTrueRange(history, rule.bars ?? ATR_BARS)) / close)
    if (share > 0) return share
    throw new StrategyError(`its ${what} cannot be placed: the price of ${history.symbol} does not move`)
  }
  const share = r9(where === 'above' ? rule.price / close - 1 : 1 - rule.price / close)
  if (share > 0) return share
  throw new StrategyError(`its ${what} ${rule.price} is not ${where} the price ${close} of ${history.symbol}`)
}

const lastClose = (history: PriceHistory): number => {
  const close = newestOf(history, 1).at(-1)?.close
  if (close === undefined) throw new StrategyError(`${history.symbol} has no closed bar yet`)
  return close
}

const ATR_BARS = 14
const VOLATILITY_BARS = 50
const YEAR_SECONDS = 365 * 86_400

/** The mean of the true ranges. */
const averageTrueRange = (history: PriceHistory, count: number): number => {
  const newest = newestOf(history, count + 1)
  if (newest.length < count + 1)
    throw new StrategyError(`${count + 1} bars of ${history.symbol} are needed for the average true range`)
  let sum = 0
  for (const [index, { high, low }] of newest.entries()) {
    const before = newest[index - 1]
    if (before !== undefined)
      sum += Math.max(high - low, Math.abs(high - before.close), Math.abs(low - before.close))
  }
  return sum / count
}

const yearlyVolatility = (history: PriceHistory, count: number): number => {
  const newest = newestOf(history, count + 1)
  if (newest.length < count + 1)
    throw new StrategyError(`${count + 1} bars of ${history.symbol} are needed for the volatility`)
  const returns = newest.slice(1).map(({ close }, index) => close / (newest[index]?.close ?? close) - 1)
  const mean = returns.reduce((sum, value) => sum + value, 0) / count
  const variance = returns.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (count - 1)
  return Math.sqrt(variance * (YEAR_SECONDS / history.seconds))
}
