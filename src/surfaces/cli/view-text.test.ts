import { expect, it } from 'vitest'
import { idColumn, left, warning } from './table.ts'
import { PLAIN } from './terminal.ts'
import { details, list } from './view-text.ts'

const AT = '2026-02-20T12:00:00.000Z'
const STYLE = { ...PLAIN, nowMs: Date.parse(AT) + 3 * 60_000 }

it('titles and formats columns by the names and units of members', () => {
  const orders = [
    { id: 'aaaaaaaa-1', symbol: 'BTC', fees_usd: 1.5, hit_rate: 0.25, last_run_at: null, opened_at: AT },
    { id: 'bbbbbbbb-1', symbol: 'ETH', fees_usd: 20, hit_rate: 1, last_run_at: AT, opened_at: AT },
  ]
  const id = idColumn<(typeof orders)[number]>('Order', (order) => order.id)
  const columns = ['symbol', 'fees_usd', 'hit_rate', 'last_run_at', ['opened_at', 'Age'], id] as const
  expect(list(orders, columns)(STYLE).split('\n')).toEqual([
    'Symbol   Fees  Hit rate  Last run  Age  Order',
    'BTC      1.50   25.00 %     never   3m  aaaaaaaa',
    'ETH     20.00  100.00 %        3m   3m  bbbbbbbb',
    '',
  ])
})

it('counts down to an end, and shows that it is over', () => {
  const ends = [{ valid_until: '2026-02-20T12:08:00.000Z' }, { valid_until: AT }]
  expect(list(ends, [['valid_until', 'Ends'], left('', () => 'x')])(STYLE)).toBe(
    ' Ends\nin 5m  x\n over  x\n',
  )
})

it('says that there is nothing to list', () => {
  expect(list<{ a: number }>([], ['a'], 'Nothing yet.')(STYLE)).toBe('Nothing yet.\n')
})

const VIEW = {
  node_id: 'ann',
  fees_usd: 1.5,
  registered_at: AT,
  last_run_at: null,
  public_key: null,
  active: true,
  kill_switch: 2,
  scopes: ['read', 'submit'],
  reasons: [],
  inner: { a: 1 },
  items: [{ a: 1 }],
}

it('shows all plain members of a view', () => {
  expect(details(VIEW)(STYLE).split('\n')).toEqual([
    'Node           ann',
    'Fees           1.50 USD',
    `Registered at  ${AT}`,
    'Last run at    never',
    'Public key     none',
    'Active         yes',
    'Kill switch    level 2',
    'Scopes         read, submit',
    'Reasons        none',
    '',
  ])
})

it('shows only the named members, between rows of its own', () => {
  expect(details(VIEW, ['node_id', ['State', warning('late')], ['Absent', null], 'fees_usd'])(STYLE)).toBe(
    'Node   ann\nState  late\nFees   1.50 USD\n',
  )
})
