/** Everything of one time. */
export interface TimeGroup<Item> {
  readonly ms: number
  readonly items: readonly Item[]
}

/** Holds a bounded number of times and lets them go in order. */
export interface ReorderWindow<Item> {
  /** False when its time has gone already. */
  add(ms: number, item: Item): boolean
  /** The earliest time, if more are held than the window is wide. */
  overflow(): TimeGroup<Item> | null
  /** The earliest time, if any is held. */
  next(): TimeGroup<Item> | null
}

export const createReorderWindow = <Item>(width: number): ReorderWindow<Item> => {
  const times: number[] = []
  const itemsAt = new Map<number, Item[]>()
  let goneMs = Number.NEGATIVE_INFINITY

  const next = (): TimeGroup<Item> | null => {
    const ms = times.shift()
    if (ms === undefined) return null
    const items = itemsAt.get(ms) ?? []
    itemsAt.delete(ms)
    goneMs = ms
    return { ms, items }
  }

  return {
    add: (ms, item) => {
      if (ms <= goneMs) return false
      const items = itemsAt.get(ms)
      if (items !== undefined) {
        items.push(item)
        return true
      }
      itemsAt.set(ms, [item])
      times.splice(placeFor(times, ms), 0, ms)
      return true
    },
    overflow: () => (times.length > width ? next() : null),
    next,
  }
}

/** From the end: rows are mostly in order. */
const placeFor = (times: readonly number[], ms: number): number => {
  let place = times.length
  while (place > 0 && (times[place - 1] ?? ms) > ms) place -= 1
  return place
}
