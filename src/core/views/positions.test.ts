import { canonicalSymbol } from '../shared/symbol.ts'
import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import { intentId, orderId, positionId, timestampOf } from '../shared/brand.ts'
import {
  costOf,
  NO_COST_BASIS,
  NO_QUANTITY,
  NO_USD,
  priceFrom,
  quantityFrom,
  usdFrom,
} from '../shared/money.ts'
import type { ClosedPosition, HeldPosition, Position } from '../trading/positions/positions.ts'
import { positionView, viewPosition, viewPositions } from './positions.ts'

const position: HeldPosition = {
  id: positionId('a'),
  status: 'open',
  terms: {
    origin: {
      kind: 'intent',
      orderId: orderId('order'),
      intentId: intentId('intent'),
      convictionId: 'conviction',
      regimeAtEntry: 'BULL',
      pcsAtEntry: 78.2,
      ctsAtEntry: 0,
    },
    platform: 'paper',
    asset: canonicalSymbol('BTC'),
    direction: 'long',
    leverage: 1,
    marginType: 'isolated',
    openedAt: timestampOf('2026-02-20T00:30:00.000Z'),
  },
  holding: {
    quantity: quantityFrom(4.9975),
    notional: usdFrom(500),
    costBasis: costOf(priceFrom(100.05), quantityFrom(4.9975)),
    entryPrice: priceFrom(100.05),
    isEntryDone: true,
    stop: null,
    stopLoss: priceFrom(95.0475),
    takeProfit: priceFrom(110.055),
    lossAtStop: usdFrom(25.5),
    fees: usdFrom(0.3),
    funding: NO_USD,
  },
  mark: {
    price: priceFrom(101),
    atMs: 0,
    unrealized: usdFrom(4.45),
    exposure: usdFrom(504.7475),
    margin: usdFrom(500),
    maxAdverseExcursion: 0,
    maxFavorableExcursion: 0,
  },
  blockedExit: null,
}

const { blockedExit: _blockedExit, ...fields } = position

const closed: ClosedPosition = {
  ...fields,
  status: 'closed',
  end: {
    closedAt: timestampOf('2026-02-21T00:00:00.000Z'),
    exitPrice: priceFrom(110),
    reason: 'take_profit',
    realized: usdFrom(49.095165),
  },
}

const closing: Position = {
  ...fields,
  status: 'closing',
  exit: {
    orderId: orderId('exit'),
    attempt: 1,
    unsent: 0,
    alerted: null,
    by: null,
    reason: 'manual',
    trigger: null,
    quantity: NO_QUANTITY,
    notional: NO_USD,
    costBasis: NO_COST_BASIS,
  },
}

/** Positions with the ids a, b, c … */
const listed = (...positions: readonly Position[]) =>
  PersistentMap(
    positions.map((one, index) => {
      const id = positionId(String.fromCharCode(97 + index))
      return [id, { ...one, id }] as const
    }),
  )

const openedAt = (ts: string): Position => ({
  ...position,
  terms: { ...position.terms, openedAt: timestampOf(ts) },
})

describe('a position as it is shown', () => {
  it('has all its members', () => {
    const shown = viewPosition(position)
    expect(shown).toEqual({
      id: 'a',
      platform: 'paper',
      adopted: false,
      asset: 'BTC',
      direction: 'long',
      entry_price: 100.05,
      size_notional: 500,
      quantity: 4.9975,
      fees_usd: 0.3,
      leverage: 1,
      margin_type: 'isolated',
      stop_loss: 95.0475,
      take_profit: 110.055,
      opened_at: '2026-02-20T00:30:00.000Z',
      closed_at: null,
      status: 'open',
      realized_pnl: null,
      exit_price: null,
      exit_reason: null,
      mark_price: 101,
      unrealized_pnl: 4.45,
      conviction_id: 'conviction',
      regime_at_entry: 'BULL',
      pcs_at_entry: 78.2,
      cts_at_entry: 0,
    })
    expect(Object.keys(shown)).toHaveLength(25)
    expect(positionView.parse(shown)).toEqual(shown)
  })

  it('tells how it ended', () => {
    expect(viewPosition(closed)).toMatchObject({
      closed_at: '2026-02-21T00:00:00.000Z',
      status: 'closed',
      realized_pnl: 49.095165,
      exit_price: 110,
      exit_reason: 'take_profit',
      unrealized_pnl: null,
    })
  })

  it('is open unless it is closed or liquidated', () => {
    const positions = listed(
      position,
      { ...position, status: 'monitoring' },
      { ...position, status: 'degrading' },
      closing,
      closed,
      { ...closed, status: 'liquidated' },
    )
    const shown = (status: 'open' | 'closed' | 'all') =>
      viewPositions(positions, { status, limit: 500 })
        .map((view) => view.status)
        .toSorted()
    expect(shown('open')).toEqual(['closing', 'degrading', 'monitoring', 'open'])
    expect(shown('closed')).toEqual(['closed', 'liquidated'])
    expect(shown('all')).toHaveLength(6)
  })

  it('stands behind those that opened later', () => {
    const positions = listed(
      openedAt('2026-02-20T00:00:00.000Z'),
      openedAt('2026-02-22T00:00:00.000Z'),
      openedAt('2026-02-20T00:00:00.000Z'),
    )
    const ids = (limit: number) => viewPositions(positions, { status: 'all', limit }).map(({ id }) => id)
    expect(ids(500)).toEqual(['b', 'c', 'a'])
    expect(ids(2)).toEqual(['b', 'c'])
  })
})
