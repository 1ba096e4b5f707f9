import { positionId, timestampOf } from '../../shared/brand.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stateAfter } from '../../../../test/given.fixture.ts'
import type { Quantity, Usd } from '../../shared/money.ts'
import { canonicalSymbol } from '../../shared/symbol.ts'
import type { NewEvent } from '../../events/catalogue.ts'
import { releaseOrderId } from '../orders/client-order-id.ts'
import { timestampAt } from '../../shared/time.ts'
import { recordFunding } from './funding.ts'
import { TradingScenario, typesOf } from '../trading.fixture.ts'

const OPENED = timestampOf('2026-02-20T00:00:00.000Z')
const CHARGED_MS = Date.parse('2026-02-20T08:00:00.000Z')

/** Positions of these quantities, of which the `sold` ones were sold manually at the venue. */
const tradingWith = (quantities: readonly number[], sold: readonly number[] = []) =>
  stateAfter([
    ...quantities.map((quantity, index): NewEvent => ({
      type: 'execution.position_adopted.v1',
      source: 'oms',
      ts: OPENED,
      payload: {
        position_id: positionId(`p${index}`),
        venue: 'somewhere',
        asset: canonicalSymbol('BTC'),
        direction: 'long',
        entry_price: 100,
        quantity,
        size_notional: 100 * quantity,
        leverage: 1,
        mark_price: 100,
        loss_at_stop_usd: 100 * quantity,
      },
    })),
    ...sold.map((quantity, index): NewEvent => ({
      type: 'execution.order_filled.v1',
      source: 'oms',
      ts: OPENED,
      payload: {
        order_id: releaseOrderId(positionId(`p${index}`), 1n as Quantity),
        position_id: positionId(`p${index}`),
        intent_id: null,
        fill_price: 100,
        fill_size: quantity,
        fee_usd: 0,
        fill_no: 1,
        notional_usd: 100 * quantity,
        remaining_size: (quantities[index] ?? 0) - quantity,
        venue_trade_id: null,
      },
    })),
  ]).trading

const sharesOf = (
  quantities: readonly number[],
  paidUsd: bigint,
  { atMs = CHARGED_MS, sold = [] }: { atMs?: number; sold?: readonly number[] } = {},
) => {
  const payment = { id: '7', symbol: 'BTCUSDT', paidUsd: paidUsd as Usd, atMs }
  const decision = recordFunding(tradingWith(quantities, sold), { venue: 'somewhere', payment })
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

it('is shared by what is left of each position, not by what was bought', () => {
  const amounts = sharesOf([4, 4], 1_000_000n, { sold: [3, 0] }).map(({ amount_usd }) => amount_usd)
  expect(amounts).toEqual([0.2, 0.8])
  // The positions were sold but not closed yet. The funding was paid all the same.
  const all = sharesOf([1, 3], 1_000_000n, { sold: [1, 3] }).map(({ amount_usd }) => amount_usd)
  expect(all).toEqual([0.25, 0.75])
})

it('is nobody’s who did not hold the symbol then', () => {
  expect(sharesOf([], 5n)).toEqual([])
  expect(sharesOf([1], 5n, { atMs: Date.parse(OPENED) })).toEqual([])
})

it('is not charged for a position that was opened at that very moment', () => {
  const openedMs = Date.parse(OPENED)
  expect(sharesOf([1], 10n, { atMs: openedMs })).toEqual([])
  expect(sharesOf([1], 10n, { atMs: openedMs + 1 })).toHaveLength(1)
})

it('is not charged on paper either for a position that was opened at that very moment', () => {
  const chargesAfter = (waitMs: number): readonly string[] => {
    const scenario = new TradingScenario({ execution: { paper_funding_bps: 10 } })
    scenario.bar('BTC', 100)
    scenario.intend()
    const at = timestampAt(Date.parse(scenario.now) + waitMs)
    scenario.wait(waitMs)
    return typesOf(scenario.do({ kind: 'apply-funding', at }))
  }
  expect(chargesAfter(0)).toEqual([])
  expect(chargesAfter(1)).toEqual(['execution.funding_applied.v1'])
})
