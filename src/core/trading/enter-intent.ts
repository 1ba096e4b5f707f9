import { accountStatusOf } from './account.ts'
import { markNow } from '../signals/prices.ts'
import { destinationOf } from './destination.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { enter } from './entry.ts'
import { positionsOf } from './book.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import type { TradingFacts } from './evolve.ts'

/** A ready intent becomes an order, or is rejected with every reason. */
export const enterIntent = (facts: TradingFacts, intentId: string, context: DecisionContext): Decision => {
  const known = facts.trading.intents.get(intentId)
  if (known === undefined) return accept()
  const { symbol } = known.intent
  const { now, configuration, sha256Hex } = context
  const mark = markNow(facts, symbol, context)
  return enter(known, {
    now,
    level: facts.trading.killSwitch.level,
    mark: mark === null ? null : { price: mark.price, ts: new Date(mark.atMs).toISOString() },
    account: accountStatusOf(facts.trading, now),
    closes: facts.trading.ledger.closes,
    heldInSymbol: positionsOf(facts.trading, symbol).length + entriesUnderWay(facts, symbol),
    destination: destinationOf(facts, symbol, context),
    rules: configuration,
    sha256Hex,
  })
}

/** Those that have no position yet; the others are counted as one. */
const entriesUnderWay = ({ trading: { orders } }: TradingFacts, symbol: string): number =>
  orders.open.count(
    (order) =>
      !order.isExit && order.filled === 0n && canonicalSymbol(order.symbol) === canonicalSymbol(symbol),
  )
