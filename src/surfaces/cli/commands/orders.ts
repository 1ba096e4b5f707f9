import { Option, type Command } from 'commander'
import {
  ORDER_FILTERS,
  viewOrder,
  viewOrders,
  type OrderFilter,
  type OrderView,
} from '../../../core/views/orders.ts'
import { examples, type Bench, type CliCommand } from '../command.ts'
import { EXIT_OK, type ExitCode } from '../failure.ts'
import { parseLimitUpTo } from '../limit.ts'
import { parseReason } from '../reason.ts'
import { readState } from '../store.ts'
import type { Paint } from '../style.ts'
import { quiet, table, type Cell } from '../table.ts'
import { refuseUnknownWord } from '../unknown-word.ts'
import { writeAs } from '../writing.ts'

export const orders: CliCommand = {
  group: 'Look',
  add: (program, task) => {
    const command = program
      .command('orders')
      .summary('what was sent to be traded; cancel it')
      .description('Shows orders, newest first: open ones, and the newest of those that have ended.')
      .addHelpText(
        'after',
        examples(
          'svc orders',
          'svc orders --status filled --limit 10 --json',
          'svc orders cancel 0d1f1f5e-6a0b-8b7e-9c55-4f3f1f0a2b11 --reason "too slow"',
        ),
      )
    command
      .command('list', { isDefault: true })
      .summary('show them (also without "list")')
      .addOption(
        new Option('--status <status>', 'only those with this status').choices(ORDER_FILTERS).default('all'),
      )
      .option('--limit <number>', `how many, up to ${ORDERS_MAX}`, parseLimitUpTo(ORDERS_MAX), 100)
      // Every unknown word ends up here, and deserves a better answer than "too many arguments".
      .allowExcessArguments()
      .action(task(showOrders))
    command
      .command('cancel')
      .summary('give up what is left of one')
      .description(
        'At a venue it is asked for: the order ends when the venue says so. An order that nobody can look up is taken ' +
          'as canceled: look at the venue first.',
      )
      .argument('<id>', 'as "svc orders" shows it')
      .option('--reason <text>', 'why, for the log', parseReason)
      .action(task(cancel))
    return command
  },
}

const ORDERS_MAX = 500

const cancel = async (
  bench: Bench,
  orderId: string,
  { reason }: { readonly reason?: string },
): Promise<ExitCode> => {
  await writeAs(bench, 'orders cancel', (operator) => ({
    kind: 'cancel-order',
    request: { orderId, operator, reason: reason ?? null, surface: 'cli' },
  }))
  const { open, ended } = (await readState(bench.dependencies)).trading.orders
  const found = [open.get(orderId) ?? ended.get(orderId)].flatMap((order) => order ?? []).map(viewOrder)
  await bench.print.result(found[0] ?? null, (paint) => orderTable(found, paint))
  return EXIT_OK
}

const showOrders = async (
  { dependencies, print }: Bench,
  filter: OrderFilter,
  command: Command,
): Promise<ExitCode> => {
  refuseUnknownWord(command)
  const found = viewOrders((await readState(dependencies)).trading.orders, filter)
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
