import { exitEvents, exitNow } from './exits.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { openPositionsOf } from './book.ts'
import type { Position } from './positions.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { TradingFacts, TradingState } from './evolve.ts'

/** Then only an operator goes on. */
const ATTEMPTS_MAX = 8
const PAUSE_MS_MAX = 60_000

/** Exits that failed are tried again, each time a little later. */
export const retryExits = (facts: TradingFacts, context: DecisionContext): Decision =>
  accept(
    ...openPositionsOf(facts.trading)
      .filter((position) => isDue(facts, position, context))
      .flatMap((position) => {
        const { exit } = position.holding
        const again = exitNow(facts, position, exit?.reason ?? 'manual', context)
        return again === null ? [] : exitEvents(facts, { ...again, trigger: exit?.trigger ?? null }, context)
      }),
  )

/** Positions whose exit has ended without ending them. */
export const hasStrandedExit = (
  { orders }: Pick<TradingState, 'orders'>,
  { status, holding, terms }: Position,
): boolean =>
  status === 'closing' &&
  holding.exit !== null &&
  !orders.open.has(holding.exit.orderId) &&
  !orders.open.has(terms.orderId)

const LOCKDOWN = 3

const isDue = (facts: TradingFacts, position: Position, { now }: DecisionContext): boolean => {
  const { exit } = position.holding
  if (exit === null || !hasStrandedExit(facts.trading, position)) return false
  if (exit.attempt >= ATTEMPTS_MAX) return false
  if (facts.trading.killSwitch.level === LOCKDOWN && exit.reason !== 'manual') return false
  const endedAt = facts.trading.orders.ended.get(exit.orderId)?.endedAt ?? null
  const pauseMs = Math.min(PAUSE_MS_MAX, 1000 * 2 ** (exit.attempt - 1))
  return endedAt === null || Date.parse(now) - Date.parse(endedAt) >= pauseMs
}
