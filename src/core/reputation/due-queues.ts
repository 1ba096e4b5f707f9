import { Map as PersistentMap } from 'immutable'
import type { CallId } from '../shared/brand.ts'

/** FIFO queues by name. Later entries are due later, so due entries are always at the front. */
export interface DueQueues {
  readonly bounds: PersistentMap<string, QueueEnds>
  /** Call ids by queue and place. Removed entries leave gaps. */
  readonly places: PersistentMap<string, CallId>
}

/** `head` is the first taken place, `tail` the next free one. */
interface QueueEnds {
  readonly head: number
  readonly tail: number
}

export const NO_QUEUES: DueQueues = { bounds: PersistentMap(), places: PersistentMap() }

const EMPTY: QueueEnds = { head: 0, tail: 0 }

/** The place of the next entry. */
export const nextPlace = ({ bounds }: DueQueues, name: string): number => (bounds.get(name) ?? EMPTY).tail

export const withLast = ({ bounds, places }: DueQueues, name: string, id: CallId): DueQueues => {
  const { head, tail } = bounds.get(name) ?? EMPTY
  return {
    bounds: bounds.set(name, { head, tail: tail + 1 }),
    places: places.set(placeKey(name, tail), id),
  }
}

/** Drops an empty queue, whose places begin at 0 again. */
export const withoutPlace = (queues: DueQueues, name: string, place: number): DueQueues => {
  const places = queues.places.delete(placeKey(name, place))
  const { head, tail } = queues.bounds.get(name) ?? EMPTY
  if (place !== head) return { bounds: queues.bounds, places }
  let first = head + 1
  while (first < tail && !places.has(placeKey(name, first))) first += 1
  return {
    bounds: first === tail ? queues.bounds.delete(name) : queues.bounds.set(name, { head: first, tail }),
    places,
  }
}

/** The entry at the front, whose place is always taken; null for an empty queue. */
export const firstIn = ({ bounds, places }: DueQueues, name: string): CallId | null => {
  const known = bounds.get(name)
  return known === undefined ? null : (places.get(placeKey(name, known.head)) ?? null)
}

/** Iterates lazily from the front. */
export function* waitingIn({ bounds, places }: DueQueues, name: string): Generator<CallId> {
  const { head, tail } = bounds.get(name) ?? EMPTY
  for (let place = head; place < tail; place += 1) {
    const id = places.get(placeKey(name, place))
    if (id !== undefined) yield id
  }
}

const placeKey = (name: string, place: number): string => `${name}|${place}`
