import { categoryOf } from '../../../core/log/event.ts'

/** Which events a client wants. */
export interface Filter {
  /** Filters with the same key want the same events. */
  readonly key: string
  /** First segments of types; null for all. */
  readonly categories: readonly string[] | null
  readonly wants: (category: string) => boolean
}

/** From `signal,alert`: exact first segments; nothing named means everything. */
export const filterOf = (names = ''): Filter => {
  const given = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (given.length === 0) return ALL
  // A name with a dot is no first segment, so nothing has it.
  const wanted = new Set(given.filter((name) => name === categoryOf(name)))
  const categories = [...wanted].toSorted()
  return { key: `only ${categories.join(',')}`, categories, wants: (category) => wanted.has(category) }
}

const ALL: Filter = { key: 'all', categories: null, wants: () => true }
