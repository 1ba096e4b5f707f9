/** Returns the items of a list from a place on, and one more. `concat` allocates just this length; a push allocates half as much again. */
export const appended = <Item>(items: readonly Item[], from: number, last: Item): readonly Item[] =>
  (from === 0 ? items : items.slice(from)).concat([last])
