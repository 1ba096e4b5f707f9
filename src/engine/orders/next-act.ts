import type { Order } from '../../core/trading/orders.ts'
import type { KillSwitchLevel } from '../../core/shared/level.ts'

/** What is to be done next in one symbol. */
export type Act =
  | { readonly kind: 'send' | 'cancel' | 'look-up' | 'sweep'; readonly order: Order }
  /** It is not sent, and was not. */
  | { readonly kind: 'withhold'; readonly order: Order; readonly reason: string }
  /** It was sent, and what came of it could not be recorded. */
  | { readonly kind: 'doubt'; readonly order: Order }

export interface ActFacts {
  readonly level: KillSwitchLevel
  readonly nowMs: number
  /** Whether any order anywhere is unknown: then no entry is sent. */
  readonly isAnyUnknown: boolean
  readonly wasSent: (order: Order) => boolean
  /** Whether the venue may be asked about it again by now. */
  readonly isDue: (order: Order) => boolean
}

/** Orders of one symbol. While one of them is unknown nothing else is sent there. */
export const nextAct = (orders: readonly Order[], facts: ActFacts): Act | null => {
  const unknown = orders.filter(({ status }) => status === 'unknown')
  if (unknown.length > 0) {
    const order = unknown.find((one) => !one.needsOperator && facts.isDue(one))
    return order === undefined ? null : { kind: 'look-up', order }
  }
  const resting = orders.filter(({ status }) => status === 'open' || status === 'partial')
  const unwanted = resting.find((order) => order.cancelReason !== null && facts.isDue(order))
  if (unwanted !== undefined) return { kind: 'cancel', order: unwanted }
  const [waiting] = orders
    .filter(({ status }) => status === 'submitting')
    .toSorted((one, other) => Number(other.isExit) - Number(one.isExit) || (one.id < other.id ? -1 : 1))
    .flatMap((order) => actOn(order, facts) ?? [])
  if (waiting !== undefined) return waiting
  const order = resting.find((one) => facts.isDue(one))
  return order === undefined ? null : { kind: 'sweep', order }
}

const LOCKDOWN = 3

const actOn = (order: Order, facts: ActFacts): Act | null => {
  if (facts.wasSent(order)) return { kind: 'doubt', order }
  const reason = whyNot(order, facts)
  if (reason !== null) return { kind: 'withhold', order, reason }
  return !order.isExit && facts.isAnyUnknown ? null : { kind: 'send', order }
}

/** What changed since it was decided. */
const whyNot = (order: Order, { level, nowMs }: ActFacts): string | null => {
  if (order.cancelReason !== null) return order.cancelReason
  const isForbidden = order.isExit ? level === LOCKDOWN && order.exitReason !== 'manual' : level >= 2
  if (isForbidden) return 'kill_switch'
  return order.validUntil !== null && nowMs > Date.parse(order.validUntil) ? 'expired' : null
}
