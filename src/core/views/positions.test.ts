import { Map as PersistentMap } from 'immutable'
import { describe, expect, it } from 'vitest'
import type { Position } from '../positions/positions.ts'
import { positionView, viewPosition, viewPositions } from './positions.ts'

const position: Position = {
  id: 'a',
  platform: 'paper',
  asset: 'BTC',
  direction: 'long',
  entryPrice: 100.05,
  sizeNotional: 500,
  quantity: 4.9975,
  feesUsd: 0.3,
  leverage: 1,
  marginType: 'isolated',
  stopLoss: 95.0475,
  takeProfit: 110.055,
  openedAt: '2026-02-20T00:30:00.000Z',
  closedAt: null,
  status: 'open',
  realizedPnl: null,
  exitPrice: null,
  exitReason: null,
  markPrice: 101,
  unrealizedPnl: 4.45,
  convictionId: 'conviction',
  regimeAtEntry: 'BULL',
  pcsAtEntry: 78.2,
  ctsAtEntry: 0,
}

const book = (...positions: readonly Partial<Position>[]) =>
  PersistentMap(
    positions.map((said, index) => {
      const id = String.fromCharCode(97 + index)
      return [id, { ...position, id, ...said }] as const
    }),
  )

describe('a position as it is shown', () => {
  it('has all its members', () => {
    const shown = viewPosition(position)
    expect(shown).toEqual({
      id: 'a',
      platform: 'paper',
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
    expect(Object.keys(shown)).toHaveLength(24)
    expect(positionView.parse(shown)).toEqual(shown)
  })

  it('is open unless it is closed or liquidated', () => {
    const statuses = ['open', 'monitoring', 'degrading', 'closing', 'closed', 'liquidated'] as const
    const positions = book(...statuses.map((status) => ({ status })))
    const shown = (status: 'open' | 'closed' | 'all') =>
      viewPositions(positions, { status, limit: 500 })
        .map((view) => view.status)
        .toSorted()
    expect(shown('open')).toEqual(['closing', 'degrading', 'monitoring', 'open'])
    expect(shown('closed')).toEqual(['closed', 'liquidated'])
    expect(shown('all')).toHaveLength(6)
  })

  it('stands behind those that opened later', () => {
    const positions = book(
      { openedAt: '2026-02-20T00:00:00.000Z' },
      { openedAt: '2026-02-22T00:00:00.000Z' },
      { openedAt: '2026-02-20T00:00:00.000Z' },
    )
    const ids = (limit: number) => viewPositions(positions, { status: 'all', limit }).map(({ id }) => id)
    expect(ids(500)).toEqual(['b', 'c', 'a'])
    expect(ids(2)).toEqual(['b', 'c'])
  })
})
