/** The items of a list from a place on, and one more. A list that grows by a push is copied to one half as long again. */
export const appended = <Item>(items: readonly Item[], from: number, last: Item): readonly Item[] =>
  (from === 0 ? items : items.slice(from)).concat([last])
