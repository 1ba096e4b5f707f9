import { Map as PersistentMap } from 'immutable'
import type { Usd } from '../shared/money.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { isOpen, type Position, type Positions } from './positions.ts'

/** Open positions by symbol and in sum, so that a price costs no more than the positions of its symbol. */
export interface Book {
  /** Ids by canonical symbol, oldest first. */
  readonly bySymbol: PersistentMap<string, readonly string[]>
  readonly count: number
  readonly unrealized: Usd
  readonly lossAtStop: Usd
  readonly exposure: Usd
  readonly margin: Usd
}

export const INITIAL_BOOK: Book = {
  bySymbol: PersistentMap(),
  count: 0,
  unrealized: 0n,
  lossAtStop: 0n,
  exposure: 0n,
  margin: 0n,
}

/** What positions and book are together. */
export interface Portfolio {
  readonly positions: Positions
  readonly book: Book
}

export const positionsOf = ({ positions, book }: Portfolio, symbol: string): readonly Position[] => {
  const ids = book.bySymbol.get(canonicalSymbol(symbol)) ?? []
  return ids.flatMap((id) => positions.get(id) ?? [])
}

/** In the order of their ids: a map remembers none. */
export const openPositionsOf = ({ positions, book }: Portfolio): readonly Position[] =>
  [...book.bySymbol.values()]
    .flat()
    .toSorted()
    .flatMap((id) => positions.get(id) ?? [])

/** The portfolio with one position as it is now. */
export const withPosition = ({ positions, book }: Portfolio, after: Position): Portfolio => {
  const before = positions.get(after.id)
  const wasOpen = before !== undefined && isOpen(before)
  const without = wasOpen ? summed(book, before, -1n) : book
  const staysOpen = isOpen(after)
  const sums = staysOpen ? summed(without, after, 1n) : without
  const kept = wasOpen && !staysOpen ? trimmed(positions, book.count) : positions
  return {
    positions: kept.set(after.id, after),
    book: wasOpen === staysOpen ? sums : indexed(sums, after, staysOpen),
  }
}

/** The same for several open positions of which only the mark changed. */
export const withMarks = (
  { positions, book }: Portfolio,
  before: readonly Position[],
  after: readonly Position[],
): Portfolio => {
  let { unrealized, exposure, margin } = book
  for (const { mark } of before) {
    unrealized -= mark.unrealized
    exposure -= mark.exposure
    margin -= mark.margin
  }
  for (const { mark } of after) {
    unrealized += mark.unrealized
    exposure += mark.exposure
    margin += mark.margin
  }
  const { bySymbol, count, lossAtStop } = book
  return {
    positions: positions.withMutations((all) => {
      for (const position of after) all.set(position.id, position)
    }),
    book: { bySymbol, count, unrealized, lossAtStop, exposure, margin },
  }
}

const summed = (book: Book, { holding, mark }: Position, sign: 1n | -1n): Book => ({
  bySymbol: book.bySymbol,
  count: book.count,
  unrealized: book.unrealized + sign * mark.unrealized,
  lossAtStop: book.lossAtStop + sign * holding.lossAtStop,
  exposure: book.exposure + sign * mark.exposure,
  margin: book.margin + sign * mark.margin,
})

const indexed = (book: Book, { id, terms }: Position, joins: boolean): Book => {
  const symbol = canonicalSymbol(terms.asset)
  const ids = book.bySymbol.get(symbol) ?? []
  const after = joins ? [...ids, id] : ids.filter((other) => other !== id)
  return {
    ...book,
    bySymbol: after.length === 0 ? book.bySymbol.delete(symbol) : book.bySymbol.set(symbol, after),
    count: book.count + (joins ? 1 : -1),
  }
}

const CLOSED_KEPT = 1000

/** Now and then, so that it costs little: the newest stay. */
const trimmed = (positions: Positions, openCount: number): Positions => {
  if (positions.size - openCount < 2 * CLOSED_KEPT) return positions
  const closed = [...positions.values()].flatMap(({ id, end }) =>
    end === null ? [] : [`${end.closedAt}|${id}`],
  )
  const surplus = closed.toSorted().slice(0, -CLOSED_KEPT)
  return positions.deleteAll(surplus.map((key) => key.slice(key.indexOf('|') + 1)))
}
