import { marginOf, notionalOf, signOf, unitsFrom, unitsNumber, type Price } from '../shared/money.ts'
import { r9 } from '../shared/numbers.ts'
import type { Holding, Mark, Position, Terms } from './positions.ts'

/** A price as a position sees it. The range of a bar counts only for positions that stood through all of it. */
export interface SeenPrice {
  readonly price: number
  readonly units: Price
  readonly atMs: number
  readonly low: number
  readonly high: number
}

export const seenPrice = (price: number, atMs: number): SeenPrice => ({
  price,
  units: unitsFrom(price),
  atMs,
  low: price,
  high: price,
})

/** Worth what the price says. */
export const markedAt = (position: Position, seen: SeenPrice): Position => ({
  id: position.id,
  status: position.status,
  terms: position.terms,
  holding: position.holding,
  mark: {
    ...valued(position.terms, position.holding, seen.units),
    price: seen.price,
    atMs: seen.atMs,
    ...excursions(position, seen),
  },
  alarm: position.alarm,
  end: position.end,
})

/** The same price, after the holding changed. */
export const withHolding = (position: Position, holding: Holding): Position => ({
  ...position,
  holding,
  mark: { ...position.mark, ...valued(position.terms, holding, unitsFrom(position.mark.price)) },
})

export const valued = (
  { direction, leverage }: Terms,
  { quantity, notional, exit }: Holding,
  price: Price,
): Pick<Mark, 'unrealized' | 'exposure' | 'margin'> => {
  const exposure = notionalOf(price, quantity - (exit?.quantity ?? 0n))
  return {
    exposure,
    unrealized: signOf(direction) * ((exit?.notional ?? 0n) + exposure - notional),
    margin: marginOf(notional, leverage),
  }
}

/** What the price gained, as a part of the entry price; negative for a loss. */
export const returnAt = (position: Position, price: number): number => {
  const change = price / unitsNumber(position.holding.entryPrice) - 1
  return position.terms.direction === 'long' ? change : -change
}

const excursions = (
  position: Position,
  { low, high }: SeenPrice,
): Pick<Mark, 'maxAdverseExcursion' | 'maxFavorableExcursion'> => {
  const isLong = position.terms.direction === 'long'
  const worst = returnAt(position, isLong ? low : high)
  const best = returnAt(position, isLong ? high : low)
  return {
    maxAdverseExcursion: r9(Math.max(position.mark.maxAdverseExcursion, -worst)),
    maxFavorableExcursion: r9(Math.max(position.mark.maxFavorableExcursion, best)),
  }
}
