import { blocksEntries, blocksExits, type KillSwitchLevel } from '../../core/shared/level.ts'
import {
  byId,
  isEntry,
  isExit,
  isManualExit,
  isProtectiveStop,
  isUnknown,
  type OpenOrder,
} from '../../core/trading/orders.ts'

/** The next step for an order of a symbol. */
export type Step =
  | { readonly kind: 'send' | 'cancel' | 'look-up' | 'sweep'; readonly order: OpenOrder }
  /** It was not sent and will not be. */
  | { readonly kind: 'withhold'; readonly order: OpenOrder; readonly reason: string }
  /** It was sent, and the answer could not be recorded. */
  | { readonly kind: 'mark-unknown'; readonly order: OpenOrder }

export interface StepFacts {
  readonly level: KillSwitchLevel
  readonly nowMs: number
  /** Whether any order of any symbol is unknown: then no entry is sent. */
  readonly isAnyUnknown: boolean
  readonly wasSent: (order: OpenOrder) => boolean
  /** Whether the venue may be asked about it again. */
  readonly isDue: (order: OpenOrder) => boolean
}

/**
 * For the orders of one symbol. While an entry or exit is unknown, no other is sent. A protective stop only reduces: it
 * never keeps an exit waiting. But it would reduce the next position, too, so entries wait until it has ended.
 */
export const nextStep = (orders: readonly OpenOrder[], facts: StepFacts): Step | null => {
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

/** Also those that need an operator: a venue may list a symbol again before one has looked. */
const lookUpOf = (orders: readonly OpenOrder[], { isDue }: StepFacts): Step | null => {
  const order = orders.find((one) => isUnknown(one) && isDue(one))
  return order === undefined ? null : { kind: 'look-up', order }
}

const cancelOf = (orders: readonly OpenOrder[], { isDue }: StepFacts): Step | null => {
  const order = orders.find((one) => isResting(one) && one.cancelReason !== null && isDue(one))
  return order === undefined ? null : { kind: 'cancel', order }
}

const sweepOf = (orders: readonly OpenOrder[], { isDue }: StepFacts): Step | null => {
  const order = orders.find((one) => isResting(one) && isDue(one))
  return order === undefined ? null : { kind: 'sweep', order }
}

const sendOf = (orders: readonly OpenOrder[], facts: StepFacts): Step | null => {
  const [step] = orders
    .filter(({ status }) => status === 'submitting')
    .toSorted(byId)
    .flatMap((order) => stepFor(order, facts) ?? [])
  return step ?? null
}

const isResting = ({ status }: OpenOrder): boolean => status === 'open' || status === 'partial'

const stepFor = (order: OpenOrder, facts: StepFacts): Step | null => {
  if (facts.wasSent(order)) return { kind: 'mark-unknown', order }
  const reason = reasonNotToSend(order, facts)
  if (reason !== null) return { kind: 'withhold', order, reason }
  return isEntry(order) && facts.isAnyUnknown ? null : { kind: 'send', order }
}

/** What has forbidden the order since it was decided. */
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
  /** Lookups that must find nothing before an order counts as not found, and over how long. */
  readonly attempts: number
  readonly overMs: number
}

/** How often resting orders are polled. */
const SWEEP_MS = 5000
/** Stops rest for days. One that was triggered is looked up sooner, because its position is on its way out. */
const STOP_SWEEP_MS = 20_000
/** The pause after an unclear answer. */
const RETRY_MS = 2000

/** When the venue is asked about an order again, and how often it found nothing. A restarted process begins anew. */
export class Lookups {
  readonly #byOrder = new Map<string, Lookup>()
  readonly #pace: () => LookupPace
  readonly #exitOf: (order: OpenOrder) => string

  /** `exitOf`: the attempt to leave the position of the order that is under way. */
  constructor(pace: () => LookupPace, exitOf: (order: OpenOrder) => string) {
    this.#pace = pace
    this.#exitOf = exitOf
  }

  isDue(order: OpenOrder, nowMs: number): boolean {
    const lookup = this.#byOrder.get(this.#keyOf(order))
    return lookup === undefined || nowMs >= lookup.nextMs
  }

  /** Counts from the first lookup of an order in this state. */
  begin(order: OpenOrder, nowMs: number): void {
    const key = this.#keyOf(order)
    if (!this.#byOrder.has(key)) this.#byOrder.set(key, { sinceMs: nowMs, nextMs: nowMs, found: 0 })
  }

  /** How many lookups found nothing; null while there were too few. */
  nothingFound(order: OpenOrder, nowMs: number): number | null {
    const { attempts, overMs } = this.#pace()
    const lookup = this.#byOrder.get(this.#keyOf(order))
    if (lookup === undefined) return null
    // The first lookup is immediate and proves nothing: the order may still be on its way.
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

  /** There is a reason to ask now. */
  ask(order: OpenOrder): void {
    this.#byOrder.delete(this.#keyOf(order))
  }

  /** Forgets orders that have ended. */
  forgetAllBut(orders: Iterable<OpenOrder>): void {
    const known = new Set([...orders].map((order) => this.#keyOf(order)))
    for (const key of this.#byOrder.keys()) if (!known.has(key)) this.#byOrder.delete(key)
  }

  /** A lookup in another state starts anew; that of a stop also with each attempt to leave the position. */
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
