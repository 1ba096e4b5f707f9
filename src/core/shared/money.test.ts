import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  averagePrice,
  feeOf,
  marginOf,
  movedPrice,
  notionalOf,
  periodShareOf,
  priceFrom,
  priceNumber,
  quantityFor,
  quantityFrom,
  quantityNumber,
  shareOf,
  slippedPrice,
  usdFrom,
  usdNumber,
  type CostBasis,
  type Price,
  type Quantity,
  type Usd,
} from './money.ts'

const micro = fc.bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n })
const price = fc.bigInt({ min: 1n, max: 10n ** 15n - 1n })
const notional = fc.bigInt({ min: 1n, max: 10n ** 13n })
const basisPoints = fc.integer({ min: 0, max: 1000 })

describe('amounts', () => {
  it('survive the way to JSON and back', () => {
    fc.assert(
      fc.property(micro, (amount) => {
        const usd: unknown = JSON.parse(JSON.stringify({ usd: usdNumber(amount as Usd) }))
        expect(usdFrom((usd as { usd: number }).usd)).toBe(amount)
        expect(priceFrom(Number(JSON.stringify(priceNumber(amount as Price))))).toBe(amount)
      }),
    )
  })

  it('are the decimals that a person reads', () => {
    expect(usdFrom(0.1 + 0.2)).toBe(300_000n)
    expect(usdNumber(499_999_999n as Usd)).toBe(499.999999)
    expect(quantityFrom(4.99750124)).toBe(499_750_124n)
    expect(quantityNumber(1n as Quantity)).toBe(1e-8)
    expect(usdFrom(-0.000001)).toBe(-1n)
    expect(quantityFrom(123_456_789_012)).toBe(12_345_678_901_200_000_000n)
    expect(quantityNumber(12_345_678_901_200_000_000n as Quantity)).toBe(123_456_789_012)
    expect(usdFrom(1e20)).toBe(10n ** 26n)
  })
})

describe('rounding', () => {
  it('of a price and a notional is half-even', () => {
    expect(notionalOf(5_000n as Price, 1_000_000n as Quantity)).toBe(0n)
    expect(notionalOf(15_000n as Price, 1_000_000n as Quantity)).toBe(2n)
    expect(notionalOf(25_000n as Price, 1_000_000n as Quantity)).toBe(2n)
    expect(slippedPrice(priceFrom(110.055), 'sell', 5)).toBe(priceFrom(109.9999725))
    expect(movedPrice(priceFrom(100.05), -0.05)).toBe(priceFrom(95.0475))
    expect(periodShareOf(5n as Usd, -10, 1n)).toBe(0n)
    expect(periodShareOf(15n as Usd, -10, 1n)).toBe(-2n)
  })

  it('of a quantity is down, of a fee up, for all amounts', () => {
    fc.assert(
      fc.property(notional, price, basisPoints, (amount, at, bps) => {
        const quantity = quantityFor(amount as Usd, at as Price)
        expect(quantity * at <= amount * 10n ** 10n).toBe(true)
        expect(quantityFrom(quantityNumber(quantity))).toBe(quantity)
        const fee = feeOf(amount as Usd, bps)
        expect(fee * 10_000n >= amount * BigInt(bps)).toBe(true)
        expect((fee - 1n) * 10_000n < amount * BigInt(bps)).toBe(true)
      }),
    )
  })

  it('of a margin is up: never less than its share of the notional', () => {
    expect(marginOf(10n as Usd, 3)).toBe(4n)
    expect(marginOf(9n as Usd, 3)).toBe(3n)
    expect(marginOf(1n as Usd, 100)).toBe(1n)
  })

  it('leaves only what JSON can tell', () => {
    fc.assert(
      fc.property(price, price, basisPoints, (at, quantity, bps) => {
        const amount = notionalOf(at as Price, quantity as Quantity)
        expect(usdFrom(usdNumber(amount))).toBe(amount)
        for (const side of ['buy', 'sell'] as const) {
          const slipped = slippedPrice(at as Price, side, bps)
          expect(priceFrom(priceNumber(slipped))).toBe(slipped)
        }
      }),
    )
  })

  it('of a share never gives more than the share', () => {
    fc.assert(
      fc.property(notional, fc.integer({ min: 0, max: 1000 }), (amount, thousandths) => {
        expect(shareOf(amount as Usd, thousandths / 1000) * 1000n <= amount * BigInt(thousandths)).toBe(true)
      }),
    )
  })
})

it('knows the price of several fills together', () => {
  fc.assert(
    fc.property(price, price, (at, quantity) => {
      expect(averagePrice((at * quantity) as CostBasis, quantity as Quantity)).toBe(at)
    }),
  )
})
