/**
 * The items of a short list from a place on, and one more. Made in its final size: a list that grows by a push is copied
 * again, to one half as long again.
 */
export const appended = <Item>(items: readonly Item[], from: number, last: Item): readonly Item[] => {
  const kept = items.length - from
  const copy = new Array<Item>(kept + 1)
  for (let index = 0; index < kept; index += 1) copy[index] = items[from + index] as Item
  copy[kept] = last
  return copy
}
