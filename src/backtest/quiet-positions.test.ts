import fc from 'fast-check'
import { expect, it } from 'vitest'
import { notionalOf, priceFrom, type Quantity } from '../core/shared/money.ts'
import { exposureAt } from './quiet-positions.ts'

const price = fc.oneof(
  fc.integer({ min: 1, max: 1e14 }).map((units) => units / 1e8),
  fc.integer({ min: 1, max: 1e8 }).map((cents) => cents / 100),
  fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
)
const quantity = fc.oneof(
  fc.bigInt({ min: 1n, max: 10n ** 17n }),
  fc.bigInt({ min: 1n, max: 10n ** 10n }),
  // With a price of some cents exactly half a millionth is left over.
  fc.bigInt({ min: 0n, max: 10n ** 6n }).map((odd) => (2n * odd + 1n) * 5000n),
)

it('values a position as the deciders do, to the last millionth', () => {
  fc.assert(
    fc.property(price, quantity, (close, units) => {
      const exact = notionalOf(priceFrom(close), units as Quantity)
      fc.pre(exact < 10n ** 15n)
      expect(exposureAt({ quantity: units as Quantity, units: Number(units) }, close)).toBe(Number(exact))
    }),
    { numRuns: 2000 },
  )
})
