import { exitEvents, exitNow } from './exits.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { openPositionsOf } from './book.ts'
import type { Position } from './positions.ts'
import type { State } from '../state.ts'
import { accept, type Decision } from '../shared/decision.ts'

/** Then only an operator goes on. */
const ATTEMPTS_MAX = 8
const PAUSE_MS_MAX = 60_000

/** Exits that failed are tried again, each time a little later. */
export const retryExits = (state: State, moment: DecisionContext): Decision =>
  accept(
    ...openPositionsOf(state)
      .filter((position) => isDue(state, position, moment))
      .flatMap((position) => {
        const { exit } = position.holding
        const again = exitNow(state, position, exit?.reason ?? 'manual', moment)
        return again === null ? [] : exitEvents(state, { ...again, trigger: exit?.trigger ?? null }, moment)
      }),
  )

/** Positions whose exit has ended without ending them. */
export const hasStrandedExit = (
  { orders }: Pick<State, 'orders'>,
  { status, holding, terms }: Position,
): boolean =>
  status === 'closing' &&
  holding.exit !== null &&
  !orders.open.has(holding.exit.orderId) &&
  !orders.open.has(terms.orderId)

const LOCKDOWN = 3

const isDue = (state: State, position: Position, { now }: DecisionContext): boolean => {
  const { exit } = position.holding
  if (exit === null || !hasStrandedExit(state, position)) return false
  if (exit.attempt >= ATTEMPTS_MAX) return false
  if (state.killSwitch.level === LOCKDOWN && exit.reason !== 'manual') return false
  const endedAt = state.orders.ended.get(exit.orderId)?.endedAt ?? null
  const pauseMs = Math.min(PAUSE_MS_MAX, 1000 * 2 ** (exit.attempt - 1))
  return endedAt === null || Date.parse(now) - Date.parse(endedAt) >= pauseMs
}
