import { blocksEntries, blocksExits, type KillSwitchLevel } from '../../core/shared/level.ts'
import { isExit, isUnknown, type OpenOrder } from '../../core/trading/orders.ts'

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

/** For the orders of one symbol. While one of them is unknown, no other is sent. */
export const nextStep = (orders: readonly OpenOrder[], facts: StepFacts): Step | null => {
  const unknown = orders.filter(isUnknown)
  if (unknown.length > 0) {
    const order = unknown.find((one) => !one.needsOperator && facts.isDue(one))
    return order === undefined ? null : { kind: 'look-up', order }
  }
  const resting = orders.filter(({ status }) => status === 'open' || status === 'partial')
  const unwanted = resting.find((order) => order.cancelReason !== null && facts.isDue(order))
  if (unwanted !== undefined) return { kind: 'cancel', order: unwanted }
  const [waiting] = orders
    .filter(({ status }) => status === 'submitting')
    .toSorted((one, other) => Number(isExit(other)) - Number(isExit(one)) || (one.id < other.id ? -1 : 1))
    .flatMap((order) => stepFor(order, facts) ?? [])
  if (waiting !== undefined) return waiting
  const order = resting.find((one) => facts.isDue(one))
  return order === undefined ? null : { kind: 'sweep', order }
}

const stepFor = (order: OpenOrder, facts: StepFacts): Step | null => {
  if (facts.wasSent(order)) return { kind: 'mark-unknown', order }
  const reason = reasonNotToSend(order, facts)
  if (reason !== null) return { kind: 'withhold', order, reason }
  return !isExit(order) && facts.isAnyUnknown ? null : { kind: 'send', order }
}

/** What has forbidden the order since it was decided. */
const reasonNotToSend = (order: OpenOrder, { level, nowMs }: StepFacts): string | null => {
  if (order.cancelReason !== null) return order.cancelReason
  const { purpose } = order
  const isForbidden =
    purpose.kind === 'exit' ? blocksExits(level) && purpose.reason !== 'manual' : blocksEntries(level)
  if (isForbidden) return 'kill_switch'
  if (purpose.kind === 'exit' || purpose.validUntil === null) return null
  return nowMs > Date.parse(purpose.validUntil) ? 'expired' : null
}

export interface LookupPace {
  /** Lookups that must find nothing before an order counts as not found, and over how long. */
  readonly attempts: number
  readonly overMs: number
}

/** How often resting orders are polled. */
const SWEEP_MS = 5000
/** The pause after an unclear answer. */
const RETRY_MS = 2000

/** When the venue is asked about an order again, and how often it found nothing. A restarted process begins anew. */
export class Lookups {
  readonly #byOrder = new Map<string, Lookup>()
  readonly #pace: () => LookupPace

  constructor(pace: () => LookupPace) {
    this.#pace = pace
  }

  isDue(order: OpenOrder, nowMs: number): boolean {
    const lookup = this.#byOrder.get(keyOf(order))
    return lookup === undefined || nowMs >= lookup.nextMs
  }

  /** Counts from the first lookup of an order in this state. */
  begin(order: OpenOrder, nowMs: number): void {
    const key = keyOf(order)
    if (!this.#byOrder.has(key)) this.#byOrder.set(key, { sinceMs: nowMs, nextMs: nowMs, found: 0 })
  }

  /** How many lookups found nothing; null while there were too few. */
  nothingFound(order: OpenOrder, nowMs: number): number | null {
    const { attempts, overMs } = this.#pace()
    const lookup = this.#byOrder.get(keyOf(order))
    if (lookup === undefined) return null
    // The first lookup is immediate and proves nothing: the order may still be on its way.
    if (lookup.found === attempts) return attempts
    lookup.found += 1
    lookup.nextMs = Math.max(nowMs, lookup.sinceMs + (lookup.found * overMs) / attempts)
    return null
  }

  unclear(order: OpenOrder, nowMs: number): void {
    const lookup = this.#byOrder.get(keyOf(order))
    if (lookup !== undefined) lookup.nextMs = nowMs + RETRY_MS
  }

  answered(order: OpenOrder, nowMs: number): void {
    this.#byOrder.set(keyOf(order), { sinceMs: nowMs, nextMs: nowMs + SWEEP_MS, found: 0 })
  }

  /** Forgets orders that have ended. */
  forgetAllBut(orders: Iterable<OpenOrder>): void {
    const known = new Set([...orders].map(keyOf))
    for (const key of this.#byOrder.keys()) if (!known.has(key)) this.#byOrder.delete(key)
  }
}

interface Lookup {
  readonly sinceMs: number
  nextMs: number
  found: number
}

/** A lookup in another state starts anew. */
const keyOf = ({ id, status, resends, cancelReason }: OpenOrder): string =>
  `${id}|${status === 'unknown' ? 'unknown' : 'resting'}|${resends}|${cancelReason === null ? '' : 'cancel'}`
