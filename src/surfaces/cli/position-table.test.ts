import { expect, it } from 'vitest'
import type { PositionView } from '../../core/views/positions.ts'
import { positionTable } from './position-table.ts'
import { PLAIN } from './style.ts'

const OPEN: PositionView = {
  id: 'p-1',
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
  conviction_id: null,
  regime_at_entry: 'BULL',
  pcs_at_entry: 78.2,
  cts_at_entry: 0,
  adopted: false,
}

it('shows where open ones stand, how closed ones ended, and what nobody knows', () => {
  const closed: PositionView = {
    ...OPEN,
    id: 'p-2',
    status: 'closed',
    exit_price: 95.05,
    realized_pnl: -25.3,
    mark_price: 90,
  }
  const unpriced: PositionView = { ...OPEN, id: 'p-3', mark_price: null, unrealized_pnl: null }
  expect(positionTable([OPEN, closed, unpriced], PLAIN).split('\n')).toEqual([
    'Asset  Direction  Status  Size USD   Entry  Exit or mark  P/L USD  Opened at                 Position',
    'BTC    long       open      500.00  100.05           101     4.45  2026-02-20T00:30:00.000Z  p-1',
    'BTC    long       closed    500.00  100.05         95.05   -25.30  2026-02-20T00:30:00.000Z  p-2',
    'BTC    long       open      500.00  100.05       unknown  unknown  2026-02-20T00:30:00.000Z  p-3',
    '',
  ])
})
