import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, NewEvent, PayloadOf } from '../../events/catalogue.ts'
import type { Sha256Hex } from '../../log/hash-chain.ts'
import { accept, refuse, type Decision } from '../../shared/decision.ts'
import { derivedId } from '../../shared/derived-id.ts'
import { assertFold } from '../../shared/assert.ts'
import { intentId, type IntentId, type OrderId, type PositionId, type Timestamp } from '../../shared/brand.ts'
import { blocksEntries, type KillSwitchLevel } from '../../shared/level.ts'
import { cancelEvents, type Orders } from './orders.ts'
import { omsEvent } from './oms-event.ts'

export type IntentStatus = 'awaiting_approval' | 'ready' | 'executing' | 'filled' | 'rejected' | 'expired'

export interface Intent {
  readonly id: IntentId
  readonly intent: PayloadOf<'execution.trade_intent.v1'>
  readonly status: IntentStatus
  readonly reasons: readonly string[]
  readonly isApproved: boolean
  readonly orderId: OrderId | null
  /** Set with the first fill. */
  readonly positionId: PositionId | null
}

/** Intents, newest last. Ended ones are kept for a while, so that a cycle can show the results of its intents. */
export type Intents = PersistentMap<IntentId, Intent>

export const INITIAL_INTENTS: Intents = PersistentMap()

const ENDED_KEPT = 1000

/** Decision of an operator about an intent that waits for approval. */
export interface IntentDecision {
  readonly intentId: IntentId
  readonly operator: string
  readonly note: string | null
  readonly surface: 'api' | 'cli'
}

export const approveIntent = (
  intents: Intents,
  { intentId: id, operator, note, surface }: IntentDecision,
  { level, now }: { readonly level: KillSwitchLevel; readonly now: Timestamp },
): Decision => {
  const known = intents.get(id)
  if (known === undefined) return unknown(id)
  if (known.status !== 'awaiting_approval' || isOver(known.intent, now)) return notWaiting(known)
  if (blocksEntries(level)) return refuse('kill_switch.active', `Kill switch is at level ${level}`, { level })
  return accept({
    type: 'execution.intent_approved.v1',
    source: surface,
    traceId: known.intent.cycle_id,
    payload: { intent_id: id, approved_by: operator, note },
  })
}

export const denyIntent = (
  intents: Intents,
  { intentId: id, operator, note, surface }: IntentDecision,
  sha256Hex: Sha256Hex,
): Decision => {
  const known = intents.get(id)
  if (known === undefined) return unknown(id)
  if (known.status !== 'awaiting_approval') return notWaiting(known)
  const event = failedEvent(known, 'approval_denied', sha256Hex, { denied_by: operator, note })
  return accept({ ...event, source: surface })
}

/** Ends intents and the rests of entries whose time is over. Nothing is sent after that time. */
export const expireIntents = (
  intents: Intents,
  orders: Orders,
  { now, sha256Hex }: { readonly now: Timestamp; readonly sha256Hex: Sha256Hex },
): Decision => {
  const overdue = liveIntentsOf(intents).filter(({ intent }) => isOver(intent, now))
  return accept(
    ...overdue
      .filter(({ status }) => status === 'ready' || status === 'awaiting_approval')
      .map((known) => failedEvent(known, EXPIRED, sha256Hex)),
    ...overdue
      .filter(({ status }) => status === 'executing')
      .flatMap(({ orderId: id }) => (id === null ? [] : (orders.open.get(id) ?? [])))
      .flatMap((order) => cancelEvents(order, EXPIRED)),
  )
}

const EXPIRED = 'expired'
/** Marks an intent that is ordered in the floor size, because the results so far would allow less. */
const PROBATION = 'probation_size'

/** Whether its time is over. An end beyond the largest possible TTL was set by a wrong clock. */
export const isOver = ({ valid_until }: Pick<Intent['intent'], 'valid_until'>, now: Timestamp): boolean =>
  valid_until < now || Date.parse(valid_until) - Date.parse(now) > TTL_MS_MAX

/** The largest `execution.approval_ttl_seconds`. */
const TTL_MS_MAX = 604_800_000

/** Whether the intent may still lead to an order or a position. */
export const isLive = (status: IntentStatus): boolean =>
  status === 'ready' || status === 'awaiting_approval' || status === 'executing'

/**
 * Live intents, which are few among many ended ones. Cached, because every second of the clock and every bar needs
 * them.
 */
export const liveIntentsOf = (intents: Intents): readonly Intent[] => {
  const ids = liveIdsOf(intents)
  if (ids.length === 0) return []
  const [only] = ids
  const intent = only === undefined || ids.length > 1 ? undefined : intents.get(only)
  // Several live intents are returned in the order of the map.
  return intent === undefined ? [...intents.values()].filter(({ status }) => isLive(status)) : [intent]
}

const liveIdsOf = (intents: Intents): readonly IntentId[] => {
  const known = liveIds.get(intents)
  if (known !== undefined) return known
  const ids = [...intents.values()].filter(({ status }) => isLive(status)).map(({ id }) => id)
  liveIds.set(intents, ids)
  return ids
}

/** Passed on from one fold to the next, so that a map is searched only after it was loaded from a snapshot. */
const liveIds = new WeakMap<Intents, readonly IntentId[]>()

const withLiveIds = (before: Intents, after: Intents, { id, status }: Intent): Intents => {
  const others = liveIdsOf(before).filter((other) => other !== id)
  liveIds.set(after, isLive(status) ? [...others, id] : others)
  return after
}

export const evolveIntents = (intents: Intents, event: KnownEvent): Intents => {
  switch (event.type) {
    case 'execution.trade_intent.v1':
      return withIntent(intents, newIntent(intentId(event.id), event.payload))
    case 'execution.intent_approved.v1':
      return changed(intents, event.payload.intent_id, { status: 'ready', isApproved: true })
    case 'execution.order_submitted.v1':
      return changed(intents, event.payload.intent_id, {
        status: 'executing',
        orderId: event.payload.order_id,
        reasons: reasonsOf(event.payload),
      })
    case 'execution.order_filled.v1': {
      const { intent_id: id, remaining_size: rest } = event.payload
      const opened = { positionId: event.payload.position_id }
      return changed(intents, id, rest === 0 ? { ...opened, status: 'filled' } : opened)
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

const changed = (intents: Intents, id: IntentId | null, change: Partial<Intent>): Intents => {
  if (id === null) return intents
  const known = intents.get(id)
  assertFold(known !== undefined, `an event concerns intent ${id}, which is not known`)
  const next: Intent = { ...known, ...change }
  return withLiveIds(intents, intents.set(known.id, next), next)
}

const newIntent = (id: IntentId, intent: Intent['intent']): Intent => ({
  id,
  intent,
  status: intent.status,
  reasons: [],
  isApproved: false,
  orderId: null,
  positionId: null,
})

const reasonsOf = ({ sizing }: PayloadOf<'execution.order_submitted.v1'>): readonly string[] =>
  sizing?.probation === true ? [PROBATION] : []

/** Adds an intent. Only ended ones are dropped to make room. */
const withIntent = (intents: Intents, intent: Intent): Intents =>
  withLiveIds(intents, trimmed(intents).set(intent.id, intent), intent)

const failedEvent = (
  { id, intent }: Intent,
  reason: string,
  sha256Hex: Sha256Hex,
  details: PayloadOf<'execution.order_failed.v1'>['details'] = {},
): NewEvent =>
  omsEvent(
    'execution.order_failed.v1',
    {
      order_id: derivedId('order', id, sha256Hex),
      intent_id: id,
      symbol: intent.symbol,
      reasons: [reason],
      details,
    },
    intent.cycle_id,
  )

const unknown = (id: IntentId): Decision =>
  refuse('intent.not_found', `no intent has id ${id}`, { intent_id: id })

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
