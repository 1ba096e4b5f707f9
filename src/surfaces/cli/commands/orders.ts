import { orderId } from '../../../core/shared/brand.ts'
import { Option, type Command } from 'commander'
import {
  ORDER_FILTERS,
  viewOrder,
  viewOrders,
  type OrderFilter,
  type OrderView,
} from '../../../core/views/orders.ts'
import { completeId, parseLimitUpTo, parseReason, refuseUnknownWord } from '../arguments.ts'
import { examples, type Invocation, type DefineCommand } from '../command.ts'
import { readState, writeAs } from '../store.ts'
import { age, bad, plainNumber, price, quiet, shortIds, table } from '../table.ts'
import type { Style } from '../terminal.ts'

export const define: DefineCommand = (command, run) => {
  command
    .description('Lists open orders and the most recent finished ones, newest first.')
    .addHelpText(
      'after',
      examples(
        'svc orders',
        'svc orders --status filled --limit 10 --json',
        'svc orders cancel 0d1f1f5e --reason "too slow"',
      ),
    )
  command
    .command('list', { isDefault: true })
    .summary('list orders (the default)')
    .addOption(
      new Option('--status <status>', 'only orders with this status').choices(ORDER_FILTERS).default('all'),
    )
    .option('--limit <number>', `how many, up to ${ORDERS_MAX}`, parseLimitUpTo(ORDERS_MAX), 100)
    .allowExcessArguments()
    .action(run(showOrders))
  command
    .command('cancel')
    .summary('cancel the open part of an order')
    .description(
      'At a venue the cancellation is requested: the order ends when the venue confirms it. An order in status unknown ' +
        'that the venue cannot look up is recorded as canceled, so check at the venue first.',
    )
    .argument('<id>', 'its id, or the beginning that "svc orders" shows')
    .option('--reason <text>', 'why, for the log', parseReason)
    .action(run(cancel))
}

const ORDERS_MAX = 500

const cancel = async (
  invocation: Invocation,
  typed: string,
  { reason }: { readonly reason?: string },
): Promise<void> => {
  const { dependencies } = invocation
  const before = (await readState(dependencies)).trading.orders
  const id = orderId(completeId(typed, [...before.open.keys(), ...before.ended.keys()]))
  await writeAs(invocation, 'orders cancel', (operator) => ({
    kind: 'cancel-order',
    request: { orderId: id, operator, reason: reason ?? null, surface: 'cli' },
  }))
  const { open, ended } = (await readState(dependencies)).trading.orders
  const found = [open.get(id) ?? ended.get(id)].flatMap((order) => order ?? []).map(viewOrder)
  await invocation.print.result(found[0] ?? null, (style) =>
    orderTable(found, dependencies.clock.now(), style),
  )
}

const showOrders = async (
  { dependencies, print }: Invocation,
  filter: OrderFilter,
  command: Command,
): Promise<void> => {
  refuseUnknownWord(command)
  const found = viewOrders((await readState(dependencies)).trading.orders, filter)
  await print.result(found, (style) =>
    found.length === 0 ? 'There are no such orders.\n' : orderTable(found, dependencies.clock.now(), style),
  )
}

const orderTable = (found: readonly OrderView[], nowMs: number, style: Style): string => {
  const short = shortIds(found.map(({ order_id }) => order_id))
  return table(
    COLUMNS,
    found.map((order) => [
      order.symbol,
      `${order.side} ${order.reduce_only ? 'exit' : 'entry'}`,
      order.needs_operator ? bad(order.status) : order.status,
      plainNumber(order.quantity),
      `${((100 * order.filled_quantity) / order.quantity).toFixed(0)} %`,
      price(order.reference_price),
      order.venue,
      age(order.submitted_at, nowMs),
      quiet(short(order.order_id)),
    ]),
    style,
  )
}

const COLUMNS = [
  { title: 'Symbol', shrink: true },
  { title: 'Order' },
  { title: 'Status' },
  { title: 'Quantity', align: 'right' },
  { title: 'Filled', align: 'right' },
  { title: 'Price', align: 'right' },
  { title: 'Venue', shrink: true },
  { title: 'Age', align: 'right' },
  { title: 'Id' },
] as const
