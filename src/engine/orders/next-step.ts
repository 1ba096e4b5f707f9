import { blocksEntries, blocksExits, type KillSwitchLevel } from '../../core/shared/level.ts'
import {
  byId,
  isEntry,
  isExit,
  isManualExit,
  isProtectiveStop,
  isUnknown,
  type OpenOrder,
} from '../../core/trading/orders/orders.ts'

/** Next step for an order in a symbol. */
export type OrderStep =
  | { readonly kind: 'send' | 'cancel' | 'look-up' | 'sweep'; readonly order: OpenOrder }
  /** The order was not sent and will not be. */
  | { readonly kind: 'withhold'; readonly order: OpenOrder; readonly reason: string }
  /** The order was sent, and the answer could not be recorded. */
  | { readonly kind: 'mark-unknown'; readonly order: OpenOrder }

export interface StepFacts {
  readonly level: KillSwitchLevel
  readonly nowMs: number
  /** Whether any order in any symbol is unknown. No entry is sent then. */
  readonly isAnyUnknown: boolean
  readonly wasSent: (order: OpenOrder) => boolean
  /** Whether the venue may be asked about the order again. */
  readonly isDue: (order: OpenOrder) => boolean
}

/**
 * Next step for the orders of one symbol. While an entry or exit is unknown, no other order is sent. A protective stop
 * only reduces, so it never delays an exit. It would also reduce the next position, so entries wait until it has ended.
 */
export const nextStep = (orders: readonly OpenOrder[], facts: StepFacts): OrderStep | null => {
  const stops = orders.filter(isProtectiveStop)
  const others = orders.filter((order) => !isProtectiveStop(order))
  if (others.some(isUnknown)) return lookUpOf(others, facts)
  const isEntryHeldBack = stops.some((stop) => isUnknown(stop) || stop.cancelReason !== null)
  return (
    cancelOf(others, facts) ??
    sendOf(others.filter(isExit), facts) ??
    lookUpOf(stops, facts) ??
    cancelOf(stops, facts) ??
    sendOf(stops, facts) ??
    (isEntryHeldBack ? null : sendOf(others.filter(isEntry), facts)) ??
    sweepOf(orders, facts)
  )
}

/** Includes orders that need an operator: a venue may list a symbol again before an operator has checked. */
const lookUpOf = (orders: readonly OpenOrder[], { isDue }: StepFacts): OrderStep | null => {
  const order = orders.find((one) => isUnknown(one) && isDue(one))
  return order === undefined ? null : { kind: 'look-up', order }
}

const cancelOf = (orders: readonly OpenOrder[], { isDue }: StepFacts): OrderStep | null => {
  const order = orders.find((one) => isResting(one) && one.cancelReason !== null && isDue(one))
  return order === undefined ? null : { kind: 'cancel', order }
}

const sweepOf = (orders: readonly OpenOrder[], { isDue }: StepFacts): OrderStep | null => {
  const order = orders.find((one) => isResting(one) && isDue(one))
  return order === undefined ? null : { kind: 'sweep', order }
}

const sendOf = (orders: readonly OpenOrder[], facts: StepFacts): OrderStep | null => {
  const [step] = orders
    .filter(({ status }) => status === 'submitting')
    .toSorted(byId)
    .flatMap((order) => stepFor(order, facts) ?? [])
  return step ?? null
}

const isResting = ({ status }: OpenOrder): boolean => status === 'open' || status === 'partial'

const stepFor = (order: OpenOrder, facts: StepFacts): OrderStep | null => {
  if (facts.wasSent(order)) return { kind: 'mark-unknown', order }
  const reason = reasonNotToSend(order, facts)
  if (reason !== null) return { kind: 'withhold', order, reason }
  return isEntry(order) && facts.isAnyUnknown ? null : { kind: 'send', order }
}

/** Reason that forbids sending the order since it was decided, or null. */
export const reasonNotToSend = (
  order: OpenOrder,
  { level, nowMs }: Pick<StepFacts, 'level' | 'nowMs'>,
): string | null => {
  if (order.cancelReason !== null) return order.cancelReason
  const { purpose } = order
  const isForbidden = isEntry(order) ? blocksEntries(level) : blocksExits(level) && !isManualExit(order)
  if (isForbidden) return 'kill_switch'
  if (purpose.kind !== 'entry' || purpose.validUntil === null) return null
  return nowMs > Date.parse(purpose.validUntil) ? 'expired' : null
}

export interface LookupPace {
  /** Number of lookups that must find nothing before an order counts as not found, and their total duration. */
  readonly attempts: number
  readonly overMs: number
}

/** Interval at which resting orders are polled. */
const SWEEP_MS = 5000
/** Interval for stops, which rest for days. A triggered stop is looked up sooner, because its position is closing. */
const STOP_SWEEP_MS = 20_000
/** Pause after an unclear answer. */
const RETRY_MS = 2000

/** Schedules lookups of orders, and counts those that found nothing. Starts empty after a restart. */
export class Lookups {
  readonly #byOrder = new Map<string, Lookup>()
  readonly #pace: () => LookupPace
  readonly #exitOf: (order: OpenOrder) => string

  /** `exitOf` returns the current exit attempt of the position that the order belongs to. */
  constructor(pace: () => LookupPace, exitOf: (order: OpenOrder) => string) {
    this.#pace = pace
    this.#exitOf = exitOf
  }

  isDue(order: OpenOrder, nowMs: number): boolean {
    const lookup = this.#byOrder.get(this.#keyOf(order))
    return lookup === undefined || nowMs >= lookup.nextMs
  }

  /** Starts counting with the first lookup of an order in this state. */
  begin(order: OpenOrder, nowMs: number): void {
    const key = this.#keyOf(order)
    if (!this.#byOrder.has(key)) this.#byOrder.set(key, { sinceMs: nowMs, nextMs: nowMs, found: 0 })
  }

  /** Number of lookups that found nothing; null while there were too few. */
  nothingFound(order: OpenOrder, nowMs: number): number | null {
    const { attempts, overMs } = this.#pace()
    const lookup = this.#byOrder.get(this.#keyOf(order))
    if (lookup === undefined) return null
    // The first lookup is immediate and proves nothing, because the order may still be on its way.
    if (lookup.found === attempts) return attempts
    lookup.found += 1
    lookup.nextMs = Math.max(nowMs, lookup.sinceMs + (lookup.found * overMs) / attempts)
    return null
  }

  unclear(order: OpenOrder, nowMs: number): void {
    const lookup = this.#byOrder.get(this.#keyOf(order))
    if (lookup !== undefined) lookup.nextMs = nowMs + RETRY_MS
  }

  answered(order: OpenOrder, nowMs: number): void {
    const pauseMs = isProtectiveStop(order) ? STOP_SWEEP_MS : SWEEP_MS
    this.#byOrder.set(this.#keyOf(order), { sinceMs: nowMs, nextMs: nowMs + pauseMs, found: 0 })
  }

  /** Makes a lookup due at once. */
  ask(order: OpenOrder): void {
    this.#byOrder.delete(this.#keyOf(order))
  }

  /** Forgets orders that have ended. */
  forgetAllBut(orders: Iterable<OpenOrder>): void {
    const known = new Set([...orders].map((order) => this.#keyOf(order)))
    for (const key of this.#byOrder.keys()) if (!known.has(key)) this.#byOrder.delete(key)
  }

  /** A lookup in another state starts anew. That of a stop also starts anew with each exit attempt. */
  #keyOf(order: OpenOrder): string {
    const { id, status, resends, cancelReason } = order
    const state = status === 'unknown' ? 'unknown' : 'resting'
    const exit = isProtectiveStop(order) ? this.#exitOf(order) : ''
    return `${id}|${state}|${resends}|${cancelReason === null ? '' : 'cancel'}|${exit}`
  }
}

interface Lookup {
  readonly sinceMs: number
  nextMs: number
  found: number
}
