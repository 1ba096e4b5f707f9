import { accountStatusOf } from './account.ts'
import { markNow } from '../brain/cycle-inputs.ts'
import { destinationOf } from './destination.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { enter } from './entry.ts'
import { positionsOf } from './book.ts'
import type { State } from '../state.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { canonicalSymbol } from '../shared/symbol.ts'

/** A ready intent becomes an order, or is rejected with every reason. */
export const enterIntent = (state: State, intentId: string, moment: DecisionContext): Decision => {
  const known = state.intents.get(intentId)
  if (known === undefined) return accept()
  const { symbol } = known.intent
  const { now, configuration, sha256Hex } = moment
  const mark = markNow(state, symbol, moment)
  return enter(known, {
    now,
    level: state.killSwitch.level,
    mark: mark === null ? null : { price: mark.price, ts: new Date(mark.atMs).toISOString() },
    account: accountStatusOf(state, now),
    closes: state.ledger.closes,
    heldInSymbol: positionsOf(state, symbol).length + entriesUnderWay(state, symbol),
    destination: destinationOf(state, symbol, moment),
    rules: configuration,
    sha256Hex,
  })
}

/** Those that have no position yet; the others are counted as one. */
const entriesUnderWay = ({ orders }: State, symbol: string): number =>
  orders.open.count(
    (order) =>
      !order.isExit && order.filled === 0n && canonicalSymbol(order.symbol) === canonicalSymbol(symbol),
  )
