import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PositionView } from '../../../core/views/positions.ts'
import { PLAIN } from '../terminal.ts'
import { openTestHome, type TestHome } from '../test-home.fixture.ts'
import { positionTable } from './positions.ts'

let home: TestHome
beforeEach(async () => {
  home = await openTestHome()
})
afterEach(() => home.close())

it.each([
  [[], 'There are no open positions.\n'],
  [['--status', 'open'], 'There are no open positions.\n'],
  [['--status', 'closed'], 'There are no closed positions.\n'],
  [['--status', 'all'], 'There are no positions yet.\n'],
])('shows none where there is none: %j', async (words, text) => {
  expect(await home.run(['positions', ...words])).toEqual({ exitCode: 0, stdout: text, stderr: '' })
  expect((await home.run(['positions', ...words, '--json'])).stdout).toBe('[]\n')
  expect(home.log()).toBeNull()
})

it('writes nothing', async () => {
  await home.run(['kill-switch', 'set', '1'])
  const before = await home.records()
  expect((await home.run(['positions', '--json'])).stdout).toBe('[]\n')
  expect(await home.records()).toEqual(before)
})

it('refuses a status nobody knows', async () => {
  const { exitCode, stderr } = await home.run(['positions', '--status', 'lost'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('open, closed, all')
})

describe('the table', () => {
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
    const nowMs = Date.parse(OPEN.opened_at) + 3 * 60_000
    expect(positionTable([OPEN, closed, unpriced])({ ...PLAIN, nowMs }).split('\n')).toEqual([
      'Asset  Side  Status  Size USD   Entry  Mark/exit  P/L USD  Age  Position',
      'BTC    long  open      500.00  100.05        101     4.45   3m  p-1',
      'BTC    long  closed    500.00  100.05      95.05   -25.30   3m  p-2',
      'BTC    long  open      500.00  100.05    unknown  unknown   3m  p-3',
      '',
    ])
  })
})
