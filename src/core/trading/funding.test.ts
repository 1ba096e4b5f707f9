import { timestampOf } from '../shared/brand.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stateAfter } from '../../../test/given.fixture.ts'
import type { Usd } from '../shared/money.ts'
import { recordFunding } from './funding.ts'

const OPENED = timestampOf('2026-02-20T00:00:00.000Z')
const CHARGED_MS = Date.parse('2026-02-20T08:00:00.000Z')

const tradingWith = (quantities: readonly number[]) =>
  stateAfter(
    quantities.map((quantity, index) => ({
      type: 'execution.position_adopted.v1',
      source: 'oms',
      ts: OPENED,
      payload: {
        position_id: `p${index}`,
        venue: 'somewhere',
        asset: 'BTC',
        direction: 'long',
        entry_price: 100,
        quantity,
        size_notional: 100 * quantity,
        leverage: 1,
        mark_price: 100,
        loss_at_stop_usd: 100 * quantity,
      },
    })),
  ).trading

const sharesOf = (quantities: readonly number[], paidUsd: bigint, atMs = CHARGED_MS) => {
  const payment = { id: '7', symbol: 'BTCUSDT', paidUsd: paidUsd as Usd, atMs }
  const decision = recordFunding(tradingWith(quantities), { venue: 'somewhere', payment })
  if (decision.status !== 'accepted') throw new Error('refused')
  return decision.events.map(({ payload }) => payload as { amount_usd: number; position_id: string })
}

it('is shared by size, and adds up to the last micro-dollar', () => {
  expect(sharesOf([1, 3], 1_000_001n).map(({ amount_usd }) => amount_usd)).toEqual([0.25, 0.750001])
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 5 }),
      fc.bigInt({ min: -1_000_000n, max: 1_000_000n }),
      (quantities, paid) => {
        const sum = sharesOf(quantities, paid).reduce(
          (total, { amount_usd }) => total + BigInt(Math.round(amount_usd * 1e6)),
          0n,
        )
        expect(sum).toBe(paid)
      },
    ),
    { numRuns: 50 },
  )
})

it('is nobody’s who did not hold the symbol then', () => {
  expect(sharesOf([], 5n)).toEqual([])
  expect(sharesOf([1], 5n, Date.parse(OPENED))).toEqual([])
})
