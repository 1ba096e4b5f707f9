import { Map as PersistentMap } from 'immutable'

/**
 * Queues by name. What comes in later is due later, so each stays in order by itself:
 * what is due stands in front, and nobody has to look at the rest.
 */
export interface DueQueues {
  readonly bounds: PersistentMap<string, Bounds>
  /** By queue and place. Whoever left early leaves a gap. */
  readonly places: PersistentMap<string, string>
}

/** From the first place that is taken to the next that is free. */
interface Bounds {
  readonly head: number
  readonly tail: number
}

export const NO_QUEUES: DueQueues = { bounds: PersistentMap(), places: PersistentMap() }

const EMPTY: Bounds = { head: 0, tail: 0 }

/** The place that the next one in gets. */
export const nextPlace = ({ bounds }: DueQueues, name: string): number => (bounds.get(name) ?? EMPTY).tail

export const withLast = ({ bounds, places }: DueQueues, name: string, id: string): DueQueues => {
  const { head, tail } = bounds.get(name) ?? EMPTY
  return {
    bounds: bounds.set(name, { head, tail: tail + 1 }),
    places: places.set(placeKey(name, tail), id),
  }
}

/** An empty queue is forgotten; its places count up from 0 again. */
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

/** From the front, as long as somebody asks for more. */
export function* waitingIn({ bounds, places }: DueQueues, name: string): Generator<string> {
  const { head, tail } = bounds.get(name) ?? EMPTY
  for (let place = head; place < tail; place += 1) {
    const id = places.get(placeKey(name, place))
    if (id !== undefined) yield id
  }
}

const placeKey = (name: string, place: number): string => `${name}|${place}`
