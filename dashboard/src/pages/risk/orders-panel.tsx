import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Order } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatPrice, formatQuantity, formatWords, textOf } from '../../ui/format.ts'
import { Id } from '../../ui/id.tsx'
import { Price, Quantity } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { rejectionText } from '../brain/labels.ts'

const OPEN: ReadonlySet<Order['status']> = new Set(['submitting', 'open', 'partial', 'unknown'])

const TONES: Readonly<Record<Order['status'], Tone>> = {
  submitting: 'accent',
  open: 'accent',
  partial: 'accent',
  unknown: 'bad',
  filled: 'good',
  canceled: 'neutral',
  rejected: 'warn',
  failed: 'warn',
}

const FILTERS = [
  ['open', 'Open'],
  ['all', 'All'],
] as const

export const OrdersPanel = () => {
  const query = useQuery(queries.orders())
  const [chosen, setFilter] = useUrlState('orders', 'open')
  const filter = chosen === 'all' ? 'all' : 'open'
  const endReasons = useEndReasons()
  return (
    <QueryPanel
      title="Orders"
      flush
      query={query}
      actions={<Choice label="Which orders" value={filter} choices={FILTERS} onChoose={setFilter} />}
    >
      {(orders) => {
        const open = orders.filter(({ status }) => OPEN.has(status))
        const rows = filter === 'open' ? open : orders
        return (
          <>
            {open
              .filter(({ needs_operator }) => needs_operator)
              .map((order) => (
                <OperatorNotice key={order.order_id} order={order} />
              ))}
            {rows.length === 0 ? (
              <NoOrders ended={orders.length} onAll={() => setFilter('all')} />
            ) : (
              <Table
                label={filter === 'open' ? 'Open orders' : 'All orders'}
                columns={columnsWith(endReasons)}
                rows={rows}
                rowKey={({ order_id }) => order_id}
                limit={100}
              />
            )}
          </>
        )
      }}
    </QueryPanel>
  )
}

/** An order that the service cannot resolve by itself, and what the operator can do about it. */
const OperatorNotice = ({ order }: { readonly order: Order }) => (
  <div
    role="alert"
    className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-b border-line bg-bad-soft px-3 py-2.5 text-[13px]"
  >
    <div className="grid min-w-0 gap-1">
      <p className="font-medium text-bad">
        Operator needed: {nameOf(order)} at {order.venue}
      </p>
      <p>
        Its state is not known, and {order.venue} cannot look it up. Find order <Id id={order.order_id} /> at
        the venue and cancel it there if it is open; then mark it as canceled here. Entries stay blocked until
        then.
      </p>
    </div>
    <CancelButton order={order} />
  </div>
)

const NoOrders = ({ ended, onAll }: { readonly ended: number; readonly onAll: () => void }) => (
  <Empty title="No open orders">
    Paper orders fill at once; those at a venue stay here until they are filled or canceled.
    {ended === 0 ? null : (
      <div className="mt-2">
        <Button size="small" onClick={onAll}>
          Show {ended} ended
        </Button>
      </div>
    )}
  </Empty>
)

const columnsWith = (endReasons: ReadonlyMap<string, string>): readonly Column<Order>[] => [
  {
    name: 'Order',
    render: ({ side, symbol, position_id, ...order }) => (
      <span className="flex flex-wrap items-center gap-x-1.5">
        <Badge tone={side === 'buy' ? 'good' : 'bad'}>{side}</Badge>
        <PageLink to="/positions" search={{ position: position_id }} className="font-medium">
          {symbol}
        </PageLink>
        <span className="text-xs text-muted">{purposeText(order)}</span>
      </span>
    ),
    sortBy: ({ symbol }) => symbol,
  },
  {
    name: 'Filled',
    align: 'right',
    render: ({ filled_quantity, quantity, symbol }) => (
      <>
        {filled_quantity === quantity ? null : `${formatQuantity(filled_quantity)} of `}
        <Quantity value={quantity} unit={symbol} />
      </>
    ),
  },
  numberColumn('Price when sent', ({ reference_price }) => reference_price, Price, { wide: true }),
  { name: 'Venue', wide: true, render: ({ venue }) => venue },
  {
    name: 'Submitted',
    wide: true,
    render: ({ submitted_at }) => <Time at={submitted_at} as="ago" />,
    sortBy: ({ submitted_at }) => submitted_at,
  },
  { name: 'Id', wide: true, render: ({ order_id }) => <Id id={order_id} /> },
  {
    name: 'Status',
    align: 'right',
    render: (order) => (
      <span className="inline-flex flex-wrap items-center justify-end gap-x-2 gap-y-1">
        <Reason order={order} ended={endReasons.get(order.order_id)} />
        <Badge tone={TONES[order.status]}>{order.status}</Badge>
        {OPEN.has(order.status) && !order.needs_operator ? <CancelButton order={order} /> : null}
      </span>
    ),
    sortBy: ({ status }) => status,
  },
]

const purposeText = ({ purpose, trigger_price: trigger }: Pick<Order, 'purpose' | 'trigger_price'>): string =>
  purpose === 'protective_stop' ? `stop${trigger === null ? '' : ` at $${formatPrice(trigger)}`}` : purpose

/** Why it ended without a fill, or why it is about to be canceled. */
const Reason = ({ order, ended }: { readonly order: Order; readonly ended: string | undefined }) => {
  const reason = ended ?? order.cancel_reason
  if (reason === null || order.status === 'filled') return null
  return (
    <span className="max-w-60 text-left text-xs text-muted">
      <Untrusted
        text={OPEN.has(order.status) ? `cancel requested: ${reasonText(reason)}` : reasonText(reason)}
      />
    </span>
  )
}

const CANCEL_REASONS: Readonly<Record<string, string>> = {
  expired: 'not filled in time',
  kill_switch: 'kill switch raised',
  manual: 'canceled by an operator',
  not_found_on_venue: 'not found at the venue',
  position_exit: 'the position is being closed',
  remainder: 'the venue canceled the rest',
}

const reasonText = (reason: string): string => CANCEL_REASONS[reason] ?? rejectionText(reason)

const ENDS_MAX = 100

/** Reasons by order. The log has them for paper orders too, whose `cancel_reason` is always null. */
const useEndReasons = (): ReadonlyMap<string, string> => {
  const { events: canceled } = useEventList({ type: 'execution.order_canceled', limit: ENDS_MAX })
  const { events: failed } = useEventList({ type: 'execution.order_failed', limit: ENDS_MAX })
  return new Map(
    [...canceled, ...failed].map(({ payload: { order_id, reason, reasons } }) => [
      textOf(order_id),
      Array.isArray(reasons) ? reasons.map((one) => formatWords(textOf(one))).join(', ') : textOf(reason),
    ]),
  )
}

const nameOf = ({ side, quantity, symbol }: Order): string => `${side} ${formatQuantity(quantity)} ${symbol}`

const STOP_TEXT =
  'This stop rests at the venue, so that the position ends at it even if the service is gone. The service orders it again, except under lockdown. '

const CancelButton = ({ order }: { readonly order: Order }) => {
  const name = nameOf(order)
  const { needs_operator: isLost, order_id } = order
  const cancel = useAction({
    send: (_input: void, headers, reason) =>
      api.POST('/orders/{order_id}/cancel', { params: { path: { order_id } }, body: { reason }, headers }),
    confirms: () => ({
      title: isLost ? `Mark ${name} as canceled?` : `Cancel ${purposeText(order)}: ${name}?`,
      text: isLost
        ? `The service does not ask ${order.venue} again. Check there first that the order is not open: a fill after this is not booked.`
        : `${order.purpose === 'protective_stop' ? STOP_TEXT : ''}What is filled already stays. The order ends when the venue confirms it.`,
      confirmLabel: isLost ? 'Mark as canceled' : 'Cancel the order',
      look: 'danger',
      reason: { suggestion: isLost ? 'checked at the venue' : 'canceled on the dashboard' },
    }),
    done: () => (isLost ? `${name} is marked as canceled` : `Canceling ${name}`),
    refreshes: ['orders', 'intents', 'live'],
  })
  return (
    <Button
      size="small"
      look={isLost ? 'danger' : 'plain'}
      busy={cancel.isPending}
      onClick={() => cancel.run()}
    >
      {isLost ? 'Mark as canceled' : 'Cancel'}
      <span className="sr-only"> {name}</span>
    </Button>
  )
}
