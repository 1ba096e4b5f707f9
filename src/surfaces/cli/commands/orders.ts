import { Option } from 'commander'
import { ORDER_FILTERS, viewOrders, type OrderFilter, type OrderView } from '../../../core/views/orders.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EXIT_OK, type ExitCode } from '../failure.ts'
import { parseLimitUpTo } from '../limit.ts'
import { readState } from '../store.ts'
import type { Paint } from '../style.ts'
import { quiet, table, type Cell } from '../table.ts'

export const orders: CliCommand = {
  group: 'Look',
  add: (program, task) =>
    program
      .command('orders')
      .summary('what was sent to be traded')
      .description('Shows orders, newest first: open ones, and the newest of those that have ended.')
      .addOption(
        new Option('--status <status>', 'only those with this status').choices(ORDER_FILTERS).default('all'),
      )
      .option('--limit <number>', `how many, up to ${ORDERS_MAX}`, parseLimitUpTo(ORDERS_MAX), 100)
      .addHelpText('after', examples('svc orders', 'svc orders --status filled --limit 10 --json'))
      .action(task(showOrders)),
}

const ORDERS_MAX = 500

const showOrders = async ({ workshop, print }: Bench, filter: OrderFilter): Promise<ExitCode> => {
  const found = viewOrders((await readState(workshop)).orders, filter)
  await print.result(found, (paint) =>
    found.length === 0 ? 'There is no such order.\n' : orderTable(found, paint),
  )
  return EXIT_OK
}

const orderTable = (found: readonly OrderView[], paint: Paint): string =>
  table(COLUMNS, found.map(rowOf), paint)

const COLUMNS = [
  { title: 'Symbol' },
  { title: 'Side' },
  { title: 'Purpose' },
  { title: 'Status' },
  { title: 'Quantity', align: 'right' },
  { title: 'Filled', align: 'right' },
  { title: 'Sent at', align: 'right' },
  { title: 'Venue' },
  { title: 'Submitted at' },
  { title: 'Order' },
] as const

const rowOf = (order: OrderView): readonly Cell[] => [
  order.symbol,
  order.side,
  order.reduce_only ? 'exit' : 'entry',
  order.status,
  String(order.quantity),
  String(order.filled_quantity),
  String(order.reference_price),
  order.venue,
  order.submitted_at,
  quiet(order.order_id),
]
