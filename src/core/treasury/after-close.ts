import type { PayloadOf } from '../events/catalogue.ts'
import { karmaIntentEvent, type ReceiptSigner } from './accrue.ts'
import { walletInForce } from './wallet.ts'
import { outcomeEvent } from '../brain/outcome.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { State } from '../state.ts'
import { accept, type Decision } from '../shared/decision.ts'

type Close = PayloadOf<'execution.position_closed.v1'>

/** What the engine may learn from a trade that is over. */
export const recordOutcome = (state: State, close: Close, { now }: DecisionContext): Decision => {
  const trade = state.learning.trades.held.get(close.position_id)
  const position = state.positions.get(close.position_id)
  if (trade === undefined || position === undefined) return accept()
  return accept(outcomeEvent(trade, position.terms, close, now))
}

/** What a profit owes to those whose signals led to it. */
export const accrueShares = (state: State, close: Close, moment: DecisionContext): Decision => {
  const { karma: rules } = moment.configuration
  const trade = state.learning.trades.held.get(close.position_id)
  if (!rules.enabled || trade === undefined) return accept()
  const profit = {
    positionId: close.position_id,
    realizedUsd: close.realized_pnl,
    mode: close.mode,
    contributors: trade.contributors,
  }
  const event = karmaIntentEvent(profit, walletInForce(state.karma, rules), receiptSignerOf(moment))
  return accept(...(event === null ? [] : [event]))
}

export const receiptSignerOf = ({ now, nodeId, sign, sha256Hex }: DecisionContext): ReceiptSigner => ({
  now,
  nodeId,
  sign,
  sha256Hex,
})
