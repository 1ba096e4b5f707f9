import type { Configuration } from '../config/schema.ts'
import { isOpen, type Position, type Positions } from '../trading/positions.ts'
import type { Call, Calls } from './calls.ts'
import {
  isAnyLeft,
  settledByBar,
  settledByTime,
  settledByTrade,
  type DecidingBar,
  type TradeResult,
} from './resolve-call.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { ratioOf } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { ReputationFacts } from './evolve.ts'

export type ClosedBar = DecidingBar

/** The calls that a bar decides. */
export const settleBar = (calls: Calls, bar: ClosedBar, rules: Configuration['settlement']): Decision => {
  const symbol = canonicalSymbol(bar.symbol)
  return accept(...settledByBar(calls, { ...bar, symbol }, rules))
}

/** Bars that decide more calls than were judged at once with them. */
export const barsLeftOver = ({
  reputation: { calls },
  market,
}: Pick<ReputationFacts, 'reputation' | 'market'>): readonly ClosedBar[] =>
  calls.open.size === 0
    ? []
    : [...market.symbols].flatMap(([symbol, { last }]) => {
        const { close, close_ts: closeTs } = last
        return !last.backfill && isAnyLeft(calls, { symbol, closeTs }) ? [{ symbol, close, closeTs }] : []
      })

/** The calls that no bar will decide any more. */
export const settleOverdue = (calls: Calls, now: string, rules: Configuration['settlement']): Decision =>
  accept(...settledByTime(calls, now, rules))

/** A position closed: calls of which it was the last are decided by what all their positions made. */
export const settlePosition = (
  calls: Calls,
  positionId: string,
  positions: Positions,
  { settlement, execution }: Configuration,
): Decision => {
  const rules = {
    prior: settlement.prior,
    band_min: settlement.band_min,
    stopPct: execution.stop_loss_pct,
    targetPct: execution.take_profit_pct,
  }
  const bound = (calls.ofPosition.get(positionId) ?? []).flatMap((id) => calls.open.get(id) ?? [])
  return accept(
    ...bound.flatMap((call) => {
      const result = resultOf(positions, call, positionId)
      return result === null ? [] : [settledByTrade(calls, call, result, rules)]
    }),
  )
}

/** Null as long as one of them is open. */
const resultOf = (positions: Positions, call: Call, positionId: string): TradeResult | null => {
  const bound = call.positionIds.flatMap((id) => positions.get(id) ?? [])
  const last = positions.get(positionId)?.end
  if (last === undefined || last === null || bound.some(isOpen)) return null
  const net = sumOf(bound, ({ end }) => end?.realized ?? 0n)
  const entered = sumOf(bound, ({ holding }) => holding.notional)
  return {
    positionId,
    exitPrice: last.exitPrice,
    netReturn: entered === 0n ? 0 : ratioOf(net, entered),
    isProfit: net > 0n,
  }
}

const sumOf = (positions: readonly Position[], amountOf: (position: Position) => bigint): bigint =>
  positions.reduce((sum, position) => sum + amountOf(position), 0n)
