import { Map as PersistentMap } from 'immutable'
import { assertFold } from '../../shared/assert.ts'
import type { PositionId, CanonicalSymbol } from '../../shared/brand.ts'
import { minus, NO_USD, plus, type Usd } from '../../shared/money.ts'
import {
  INITIAL_POSITIONS,
  isOpen,
  type ClosedPosition,
  type OpenPosition,
  type Position,
  type Positions,
} from './positions.ts'

/** Open positions by symbol, and their sums, so that a price update costs only the positions of its symbol. */
export interface Book {
  /** Ids of open positions by symbol, oldest first. */
  readonly bySymbol: PersistentMap<CanonicalSymbol, readonly PositionId[]>
  readonly count: number
  readonly unrealized: Usd
  readonly lossAtStop: Usd
  readonly exposure: Usd
  readonly margin: Usd
}

/** Positions, and the book of the open ones. */
export interface Portfolio {
  readonly positions: Positions
  readonly book: Book
}

export const INITIAL_PORTFOLIO: Portfolio = {
  positions: INITIAL_POSITIONS,
  book: {
    bySymbol: PersistentMap(),
    count: 0,
    unrealized: NO_USD,
    lossAtStop: NO_USD,
    exposure: NO_USD,
    margin: NO_USD,
  },
}

export const positionsOf = (portfolio: Portfolio, symbol: CanonicalSymbol): readonly OpenPosition[] => {
  const ids = portfolio.book.count === 0 ? undefined : portfolio.book.bySymbol.get(symbol)
  return ids === undefined ? NONE : ids.map((id) => openPosition(portfolio, id))
}

const NONE: readonly OpenPosition[] = []

/** Open positions in the order of their ids, since a persistent map has no order. */
export const openPositionsOf = (portfolio: Portfolio): readonly OpenPosition[] => {
  const ids: PositionId[] = []
  portfolio.book.bySymbol.forEach((some) => {
    ids.push(...some)
  })
  return ids.sort().map((id) => openPosition(portfolio, id))
}

const openPosition = ({ positions }: Portfolio, id: PositionId): OpenPosition => {
  const position = positions.get(id)
  assertFold(position !== undefined && isOpen(position), `position ${id} is in the book and not open`)
  return position
}

/** The portfolio with one position replaced. */
export const withPosition = ({ positions, book }: Portfolio, after: Position): Portfolio => {
  const before = positions.get(after.id)
  const wasOpen = before !== undefined && isOpen(before)
  const without = wasOpen ? summed(book, before, minus) : book
  const staysOpen = isOpen(after)
  const sums = staysOpen ? summed(without, after, plus) : without
  const kept = wasOpen && !staysOpen ? trimmed(positions, book.count) : positions
  return {
    positions: kept.set(after.id, after),
    book: wasOpen === staysOpen ? sums : indexed(sums, after, staysOpen),
  }
}

/** Like `withPosition`, for an open position of which only the mark changed. Bars are frequent. */
export const withMark = (
  { positions, book }: Portfolio,
  { mark: before }: OpenPosition,
  after: OpenPosition,
): Portfolio => ({
  positions: positions.set(after.id, after),
  book: {
    bySymbol: book.bySymbol,
    count: book.count,
    unrealized: plus(minus(book.unrealized, before.unrealized), after.mark.unrealized),
    lossAtStop: book.lossAtStop,
    exposure: plus(minus(book.exposure, before.exposure), after.mark.exposure),
    margin: book.margin,
  },
})

const summed = (book: Book, { holding, mark }: OpenPosition, added: typeof plus<Usd>): Book => ({
  ...book,
  unrealized: added(book.unrealized, mark.unrealized),
  lossAtStop: added(book.lossAtStop, holding.lossAtStop),
  exposure: added(book.exposure, mark.exposure),
  margin: added(book.margin, mark.margin),
})

const indexed = (book: Book, { id, terms }: Position, joins: boolean): Book => {
  const symbol = terms.asset
  const ids = book.bySymbol.get(symbol) ?? []
  const after = joins ? [...ids, id] : ids.filter((other) => other !== id)
  return {
    ...book,
    bySymbol: after.length === 0 ? book.bySymbol.delete(symbol) : book.bySymbol.set(symbol, after),
    count: book.count + (joins ? 1 : -1),
  }
}

const CLOSED_KEPT = 1000

/** Drops old closed positions. Runs only now and then, so that it costs little. The newest stay. */
const trimmed = (positions: Positions, openCount: number): Positions => {
  if (positions.size - openCount < 2 * CLOSED_KEPT) return positions
  const closedOnes = [...positions.values()].filter(
    (position): position is ClosedPosition => !isOpen(position),
  )
  const oldestFirst = closedOnes.toSorted((one, other) => {
    const [before, after] = [one.end.closedAt, other.end.closedAt]
    return (before === after ? one.id < other.id : before < after) ? -1 : 1
  })
  return positions.deleteAll(oldestFirst.slice(0, -CLOSED_KEPT).map(({ id }) => id))
}
