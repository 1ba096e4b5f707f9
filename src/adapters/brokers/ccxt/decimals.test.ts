import { floored, type Price, type Quantity } from '../../../core/shared/money.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeLimit, scaledOf, decimalText, priceOf } from './decimals.ts'

const amounts = fc.bigInt({ min: 0n, max: 10n ** 20n })
const steps = fc.bigInt({ min: 1n, max: 10n ** 12n })

describe('a quantity', () => {
  it('is cut to a step, by less than one, and never grows', () => {
    fc.assert(
      fc.property(amounts, steps, (quantity, step) => {
        const cut = floored(quantity as Quantity, step as Quantity)
        expect(cut % step).toBe(0n)
        expect(cut <= quantity && quantity - cut < step).toBe(true)
      }),
    )
  })
})

describe('a limit', () => {
  it('is moved to a step, by less than one, and never to the worse side', () => {
    fc.assert(
      fc.property(amounts, steps, (price, step) => {
        const [buy, sell] = [
          safeLimit(price as Price, step as Price, 'buy'),
          safeLimit(price as Price, step as Price, 'sell'),
        ]
        expect([buy % step, sell % step]).toEqual([0n, 0n])
        expect(buy <= price && price - buy < step).toBe(true)
        expect(sell >= price && sell - price < step).toBe(true)
      }),
    )
  })

  it('stays where it is on a step', () => {
    fc.assert(
      fc.property(amounts, steps, fc.constantFrom('buy' as const, 'sell' as const), (count, step, side) => {
        expect(safeLimit((count * step) as Price, step as Price, side)).toBe(count * step)
      }),
    )
  })
})

describe('digits', () => {
  it('survive a round trip', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (units) => {
        expect(priceOf(decimalText(units))).toBe(units)
        expect(decimalText(units)).toMatch(/^-?\d+(\.\d*[1-9])?$/)
      }),
    )
  })

  it.each([
    ['1e-8', 1n],
    ['1.5E+2', 15_000_000_000n],
    ['0.10000000000', 10_000_000n],
    ['-0.00000001', -1n],
    ['.5', null],
    ['0.000000001', null],
    ['12abc', null],
    ['NaN', null],
    ['Infinity', null],
    ['', null],
    ['1e999', null],
    [undefined, null],
    [null, null],
    [0.1, 10_000_000n],
  ])('%s', (text, units) => {
    expect(priceOf(text)).toBe(units)
  })

  it('beyond the last unit are refused or rounded as requested', () => {
    const all = (text: string) =>
      (['exact', 'down', 'up', 'nearest'] as const).map((way) => scaledOf(text, 2, way))
    expect(all('1.005')).toEqual([null, 100n, 101n, 101n])
    expect(all('-1.006')).toEqual([null, -101n, -100n, -101n])
    expect(all('1.00')).toEqual([100n, 100n, 100n, 100n])
  })
})
