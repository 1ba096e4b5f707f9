import type { DecisionContext } from '../shared/decision-context.ts'
import { isOpen, type Position } from '../trading/positions.ts'
import type { Call } from './calls.ts'
import {
  isAnyLeft,
  settledByBar,
  settledByTime,
  settledByTrade,
  type DecidingBar,
  type TradeResult,
} from './resolve-call.ts'
import type { State } from '../state.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { ratioOf } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'

export type ClosedBar = DecidingBar

/** The calls that a bar decides. */
export const settleBar = ({ calls }: State, bar: ClosedBar, { configuration }: DecisionContext): Decision => {
  const symbol = canonicalSymbol(bar.symbol)
  return accept(...settledByBar(calls, { ...bar, symbol }, configuration.settlement))
}

/** Bars that decide more calls than were judged at once with them. */
export const barsLeftOver = ({ calls, market }: Pick<State, 'calls' | 'market'>): readonly ClosedBar[] =>
  calls.open.size === 0
    ? []
    : [...market.symbols].flatMap(([symbol, { last }]) => {
        const { close, close_ts: closeTs } = last
        return !last.backfill && isAnyLeft(calls, { symbol, closeTs }) ? [{ symbol, close, closeTs }] : []
      })

/** The calls that no bar will decide any more. */
export const settleOverdue = ({ calls }: State, { now, configuration }: DecisionContext): Decision =>
  accept(...settledByTime(calls, now, configuration.settlement))

/** A position closed: calls of which it was the last are decided by what all their positions made. */
export const settlePosition = (
  state: State,
  positionId: string,
  { configuration }: DecisionContext,
): Decision => {
  const { settlement, execution } = configuration
  const rules = {
    prior: settlement.prior,
    band_min: settlement.band_min,
    stopPct: execution.stop_loss_pct,
    targetPct: execution.take_profit_pct,
  }
  const calls = (state.calls.ofPosition.get(positionId) ?? []).flatMap((id) => state.calls.open.get(id) ?? [])
  return accept(
    ...calls.flatMap((call) => {
      const result = resultOf(state, call, positionId)
      return result === null ? [] : [settledByTrade(state.calls, call, result, rules)]
    }),
  )
}

/** Null as long as one of them is open. */
const resultOf = ({ positions }: State, call: Call, positionId: string): TradeResult | null => {
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
