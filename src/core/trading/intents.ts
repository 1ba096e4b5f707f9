import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, NewEvent, PayloadOf } from '../events/catalogue.ts'
import type { Sha256Hex } from '../log/hash-chain.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { derivedId } from '../shared/derived-id.ts'
import type { KillSwitchLevel } from '../shared/level.ts'
import { givenUp } from './cancel.ts'
import type { Orders } from './orders.ts'

export type IntentStatus = 'awaiting_approval' | 'ready' | 'executing' | 'filled' | 'rejected' | 'expired'

export interface Intent {
  readonly id: string
  readonly intent: PayloadOf<'execution.trade_intent.v1'>
  readonly status: IntentStatus
  readonly reasons: readonly string[]
  readonly isApproved: boolean
  readonly orderId: string | null
  /** From its first fill. */
  readonly positionId: string | null
}

/** Newest last; ended ones are kept for a while, so that a cycle can tell what became of its intents. */
export type Intents = PersistentMap<string, Intent>

export const INITIAL_INTENTS: Intents = PersistentMap()

const ENDED_KEPT = 1000

/** An operator who decides about an intent that waits for it. */
export interface IntentDecision {
  readonly intentId: string
  readonly operator: string
  readonly note: string | null
  readonly surface: 'api' | 'cli'
}

export const approveIntent = (
  intents: Intents,
  { intentId, operator, note, surface }: IntentDecision,
  { level, now }: { readonly level: KillSwitchLevel; readonly now: string },
): Decision => {
  const known = intents.get(intentId)
  if (known === undefined) return unknown(intentId)
  if (known.status !== 'awaiting_approval' || known.intent.valid_until < now) return notWaiting(known)
  if (level >= 2) return refuse('kill_switch.active', `Kill switch is at level ${level}`, { level })
  return accept({
    type: 'execution.intent_approved.v1',
    source: surface,
    traceId: known.intent.cycle_id,
    payload: { intent_id: intentId, approved_by: operator, note },
  })
}

export const denyIntent = (
  intents: Intents,
  { intentId, operator, note, surface }: IntentDecision,
  sha256Hex: Sha256Hex,
): Decision => {
  const known = intents.get(intentId)
  if (known === undefined) return unknown(intentId)
  if (known.status !== 'awaiting_approval') return notWaiting(known)
  const event = failedEvent(known, 'approval_denied', sha256Hex, { denied_by: operator, note })
  return accept({ ...event, source: surface })
}

/** Nothing is sent after its time: what still waits then has ended, and so has the rest of an entry. */
export const expireIntents = (
  intents: Intents,
  orders: Orders,
  { now, sha256Hex }: { readonly now: string; readonly sha256Hex: Sha256Hex },
): Decision => {
  const overdue = [...intents.values()].filter(({ intent }) => intent.valid_until < now)
  return accept(
    ...overdue
      .filter(({ status }) => status === 'ready' || status === 'awaiting_approval')
      .map((known) => failedEvent(known, EXPIRED, sha256Hex)),
    ...overdue
      .filter(({ status }) => status === 'executing')
      .flatMap(({ orderId }) => orders.open.get(orderId ?? '') ?? [])
      .flatMap((order) => givenUp(order, EXPIRED)),
  )
}

const EXPIRED = 'expired'

/** Whether something may still come of it. */
export const isLive = (status: IntentStatus): boolean =>
  status === 'ready' || status === 'awaiting_approval' || status === 'executing'

export const evolveIntents = (intents: Intents, event: KnownEvent): Intents => {
  switch (event.type) {
    case 'execution.trade_intent.v1':
      return trimmed(intents).set(event.id, {
        id: event.id,
        intent: event.payload,
        status: event.payload.status,
        reasons: [],
        isApproved: false,
        orderId: null,
        positionId: null,
      })
    case 'execution.intent_approved.v1':
      return changed(intents, event.payload.intent_id, { status: 'ready', isApproved: true })
    case 'execution.order_submitted.v1':
      return changed(intents, event.payload.intent_id, {
        status: 'executing',
        orderId: event.payload.order_id,
      })
    case 'execution.order_filled.v1': {
      const { intent_id: id, position_id: positionId, remaining_size: rest } = event.payload
      return changed(intents, id, rest === 0 ? { positionId, status: 'filled' } : { positionId })
    }
    case 'execution.order_canceled.v1': {
      const { intent_id: id, filled_size: size, reason } = event.payload
      return changed(intents, id, size > 0 ? { status: 'filled' } : { status: 'rejected', reasons: [reason] })
    }
    case 'execution.order_failed.v1': {
      const { intent_id: id, reasons } = event.payload
      return changed(intents, id, { status: reasons.includes(EXPIRED) ? 'expired' : 'rejected', reasons })
    }
    default:
      return intents
  }
}

const changed = (intents: Intents, id: string | null, change: Partial<Intent>): Intents => {
  const known = id === null ? undefined : intents.get(id)
  return known === undefined ? intents : intents.set(known.id, { ...known, ...change })
}

const failedEvent = (
  { id, intent }: Intent,
  reason: string,
  sha256Hex: Sha256Hex,
  details: PayloadOf<'execution.order_failed.v1'>['details'] = {},
): NewEvent => ({
  type: 'execution.order_failed.v1',
  source: 'oms',
  traceId: intent.cycle_id,
  payload: {
    order_id: derivedId('order', id, sha256Hex),
    intent_id: id,
    symbol: intent.symbol,
    reasons: [reason],
    details,
  },
})

const unknown = (intentId: string): Decision =>
  refuse('intent.not_found', `no intent has id ${intentId}`, { intent_id: intentId })

const notWaiting = ({ id, status }: Intent): Decision =>
  refuse('intent.not_awaiting', `the intent does not wait for approval: it is ${status}`, {
    intent_id: id,
    intent_status: status,
  })

const trimmed = (intents: Intents): Intents => {
  if (intents.size < 2 * ENDED_KEPT) return intents
  const done = [...intents.values()].filter(({ status }) => !isLive(status)).map(({ id }) => id)
  return intents.deleteAll(done.toSorted().slice(0, -ENDED_KEPT))
}
