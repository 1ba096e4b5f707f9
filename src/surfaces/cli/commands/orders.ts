import { orderId } from '../../../core/shared/brand.ts'
import {
  ORDER_FILTERS,
  viewOrder,
  viewOrders,
  type OrderFilter,
  type OrderView,
} from '../../../core/views/orders.ts'
import { cancelOrder } from '../../operator-actions.ts'
import { runsAsOf, type AnsweredFrom } from '../as-of.ts'
import { completeId, numberFrom, parseReason } from '../arguments.ts'
import type { Answer, DefineCommand, Invocation } from '../command.ts'
import { readState, write } from '../store.ts'
import { bad, idColumn, left, right } from '../table.ts'
import type { Text } from '../terminal.ts'
import { list } from '../view-text.ts'

export const define: DefineCommand = (command) => {
  command
    .description('Lists open orders and the most recent finished ones, newest first.')
    .examples(
      'svc orders',
      'svc orders --status filled --limit 10 --json',
      'svc orders cancel 0d1f1f5e --reason "too slow"',
    )
  const listed = command
    .defaultCommand('list', 'list orders (the default)')
    .choice('--status <status>', 'only orders with this status', ORDER_FILTERS, 'all')
    .option('--limit <number>', `how many, up to ${ORDERS_MAX}`, numberFrom(1, ORDERS_MAX), 100)
  runsAsOf(listed, listFound, 'orders')
  command
    .command('cancel')
    .summary('cancel the open part of an order')
    .description(
      'At a venue the cancellation is requested: the order ends when the venue confirms it. An order in status unknown ' +
        'that the venue cannot look up is recorded as canceled, so check at the venue first.',
    )
    .argument('<id>', 'its id, or the beginning that "svc orders" shows')
    .option('--reason <text>', 'why, for the log', parseReason)
    .runs(cancel)
}

const listFound = ({ state }: AnsweredFrom, filter: OrderFilter): Answer => {
  const found = viewOrders(state.trading.orders, filter)
  return { document: found, text: orderTable(found) }
}

const ORDERS_MAX = 500

const cancel = async (
  invocation: Invocation,
  typed: string,
  { reason }: { readonly reason?: string },
): Promise<Answer> => {
  const before = (await readState(invocation)).trading.orders
  const id = orderId(completeId(typed, [...before.open.keys(), ...before.ended.keys()]))
  await write(invocation, 'orders cancel', (operator) => cancelOrder(id, reason, operator, 'cli'))
  const { open, ended } = (await readState(invocation)).trading.orders
  const found = [open.get(id) ?? ended.get(id)].flatMap((order) => order ?? []).map(viewOrder)
  return { document: found[0] ?? null, text: orderTable(found) }
}

const orderTable = (found: readonly OrderView[]): Text =>
  list(
    found,
    [
      'symbol',
      left('Order', ({ side, purpose }) => `${side} ${purpose === 'protective_stop' ? 'stop' : purpose}`),
      left('Status', ({ needs_operator, status }) => (needs_operator ? bad(status) : status)),
      'quantity',
      right('Filled', (order) => `${((100 * order.filled_quantity) / order.quantity).toFixed(0)} %`),
      ['reference_price', 'Price'],
      'venue',
      ['submitted_at', 'Age'],
      idColumn('Id', ({ order_id }) => order_id),
    ],
    'There are no such orders.',
  )
