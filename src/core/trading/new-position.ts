import { unitsFrom } from '../shared/money.ts'
import { valued } from './marking.ts'
import type { Holding, Position, Terms } from './positions.ts'

/** A position as it begins, valued at the price of that moment. */
export const newPosition = (id: string, terms: Terms, holding: Holding, price: number): Position => ({
  id,
  status: 'open',
  terms,
  holding,
  mark: {
    ...valued(terms, holding, unitsFrom(price)),
    price,
    atMs: Date.parse(terms.openedAt),
    maxAdverseExcursion: 0,
    maxFavorableExcursion: 0,
  },
  alarm: null,
  end: null,
})
