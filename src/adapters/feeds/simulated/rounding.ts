/** A multiple of the tick size, without the noise of binary fractions, never 0. */
export const roundedPrice = (price: number, tickSize: number): number => {
  const tick = Math.max(PRICE_UNIT, tickSize)
  const perUnit = Math.round(1 / tick)
  // Dividing by a whole number gives the double nearest to the decimal; multiplying by 0.01 does not.
  const result =
    Math.abs(perUnit * tick - 1) < 1e-9
      ? Math.round(price * perUnit) / perUnit
      : rounded(Math.round(price / tick) * tick, PRICE_UNITS)
  return result > 0 ? result : tick
}

/** To `perUnit` parts per unit (100: cents), never -0. */
export const rounded = (value: number, perUnit: number): number => Math.round(value * perUnit) / perUnit + 0

const PRICE_UNIT = 1e-8
const PRICE_UNITS = 1e8
