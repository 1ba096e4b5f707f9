import { randomBytes } from 'node:crypto'
import { intentId, orderId, positionId } from '../../../core/shared/brand.ts'
import { canonicalJson } from '../../../core/log/canonical-json.ts'
import type { Json, JsonObject } from '../../../core/shared/json.ts'
import type { State } from '../../../core/state.ts'
import type { Position } from '../../../core/trading/positions/positions.ts'

export const CONFIRMATION_MS = 60_000

/** The call that a code is valid for. */
export interface Confirmed {
  readonly tool: string
  readonly arguments: JsonObject
}

/** `stale`: the state shown to the caller has changed since. */
export type ConfirmationCheck =
  | { readonly status: 'invalid' | 'expired' | 'used' | 'stale' }
  /** `isCurrent` runs again at the decision: the state may change before it. */
  | { readonly status: 'valid'; readonly isCurrent: (state: State) => boolean }

interface Issued {
  readonly call: string
  readonly shown: string
  readonly expiresMs: number
  isUsed: boolean
}

/** Number of codes that are remembered. The oldest are dropped first and become invalid. */
const ISSUED_MAX = 1000

/** Codes issued by this process. A restart invalidates them. */
const issued = new Map<string, Issued>()

/** A code that proves that the caller saw the effect of the call in this state. */
export const issueConfirmation = (call: Confirmed, state: State, expiresMs: number): string => {
  const code = randomBytes(24).toString('base64url')
  issued.set(code, { call: canonicalCall(call), shown: shownTo(call, state), expiresMs, isUsed: false })
  if (issued.size > ISSUED_MAX)
    for (const oldest of [...issued.keys()].slice(0, -ISSUED_MAX)) issued.delete(oldest)
  return code
}

/** Checks whether the code is valid for this call now. A valid code is used up. */
export const useConfirmation = (
  code: string,
  call: Confirmed,
  state: State,
  nowMs: number,
): ConfirmationCheck => {
  const found = issued.get(code)
  if (found === undefined || found.call !== canonicalCall(call)) return { status: 'invalid' }
  if (found.isUsed) return { status: 'used' }
  if (nowMs >= found.expiresMs) return { status: 'expired' }
  const isCurrent = (now: State): boolean => found.shown === shownTo(call, now)
  if (!isCurrent(state)) return { status: 'stale' }
  found.isUsed = true
  return { status: 'valid', isCurrent }
}

const canonicalCall = (call: Confirmed): string => canonicalJson({ ...call })

/**
 * The facts shown to the caller: the kill switch, and the positions, the order or the intent that the call is about.
 * Prices are left out, because they change while a person thinks.
 */
const shownTo = ({ tool, arguments: given }: Confirmed, { trading }: State): string => {
  const { position_id, order_id, intent_id } = given
  const { killSwitch, positions, orders, intents } = trading
  const order =
    typeof order_id === 'string'
      ? (orders.open.get(orderId(order_id)) ?? orders.ended.get(orderId(order_id)))
      : undefined
  const intent = typeof intent_id === 'string' ? intents.get(intentId(intent_id)) : undefined
  const position = typeof position_id === 'string' ? positions.get(positionId(position_id)) : undefined
  const held =
    tool === 'close_all_positions'
      ? [...positions.values()].filter(isHeld)
      : position === undefined
        ? []
        : [position]
  return canonicalJson({
    kill_switch: [killSwitch.level, killSwitch.changedAt],
    positions: held.map(positionFacts),
    order: order === undefined ? null : [order.status, String(order.filled), order.cancelReason],
    intent: intent === undefined ? null : [intent.status, intent.isApproved],
  })
}

const isHeld = ({ status }: Position): boolean => status !== 'closed' && status !== 'liquidated'

/** Leaves out the status of an open position, which follows the price. */
const positionFacts = (position: Position): Json => {
  const { id, status, holding } = position
  const phase = isHeld(position) && status !== 'closing' ? 'held' : status
  return [id, phase, String(holding.quantity), String(holding.stopLoss), String(holding.takeProfit)]
}
