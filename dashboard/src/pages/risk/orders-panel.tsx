import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ApiError } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { Order } from '../../api/types.ts'
import { confirm } from '../../app/prompts.tsx'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatQuantity } from '../../ui/format.ts'
import { Id } from '../../ui/id.tsx'
import { Price, Quantity } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty, titleOf } from '../../ui/states.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'

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

const SHOWN = [
  ['open', 'Open'],
  ['all', 'All'],
] as const

export const OrdersPanel = () => {
  const query = useQuery(queries.orders())
  const [shown, show] = useUrlState('orders', 'open')
  const onlyOpen = shown === 'open'
  return (
    <QueryPanel
      title="Orders"
      flush
      query={query}
      actions={<Choice label="Which orders" value={shown} choices={SHOWN} onChoose={show} />}
    >
      {(orders) => {
        const rows = onlyOpen ? orders.filter(({ status }) => OPEN.has(status)) : orders
        if (rows.length === 0) return <NoOrders ended={orders.length} onAll={() => show('all')} />
        return (
          <Table
            label={onlyOpen ? 'Open orders' : 'All orders'}
            columns={COLUMNS}
            rows={rows}
            rowKey={({ order_id }) => order_id}
            limit={100}
          />
        )
      }}
    </QueryPanel>
  )
}

const NoOrders = ({ ended, onAll }: { readonly ended: number; readonly onAll: () => void }) => (
  <Empty title="No order is open">
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

const COLUMNS: readonly Column<Order>[] = [
  {
    name: 'Order',
    render: ({ side, symbol, reduce_only, position_id }) => (
      <span className="flex flex-wrap items-center gap-x-1.5">
        <Badge tone={side === 'buy' ? 'good' : 'bad'}>{side}</Badge>
        <Link to="/positions" search={{ position: position_id } as never} className="font-medium underline">
          {symbol}
        </Link>
        <span className="text-xs text-muted">{reduce_only ? 'exit' : 'entry'}</span>
      </span>
    ),
    sortBy: ({ symbol }) => symbol,
  },
  {
    name: 'Filled',
    align: 'right',
    render: ({ filled_quantity, quantity, symbol }) => (
      <>
        {formatQuantity(filled_quantity)} <span className="text-muted">of</span>{' '}
        <Quantity value={quantity} unit={symbol} />
      </>
    ),
  },
  {
    name: 'Sent at',
    align: 'right',
    wide: true,
    render: ({ reference_price }) => <Price value={reference_price} />,
  },
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
      <span className="inline-flex flex-wrap items-center justify-end gap-2">
        <Badge tone={TONES[order.status]}>{order.status}</Badge>
        {OPEN.has(order.status) ? <CancelButton order={order} /> : null}
      </span>
    ),
    sortBy: ({ status }) => status,
  },
]

const CancelButton = ({ order }: { readonly order: Order }) => {
  const what = `${order.side} ${formatQuantity(order.quantity)} ${order.symbol}`
  const action = useAction({
    send: (body: { readonly reason: string }, headers) =>
      api.POST('/orders/{order_id}/cancel', {
        params: { path: { order_id: order.order_id } },
        body,
        headers,
      }),
    done: () => `Canceling ${what}`,
    refreshes: ['orders', 'intents'],
    quiet: true,
  })
  const cancel = async (): Promise<void> => {
    const answer = await confirm({
      title: `Cancel ${what}?`,
      text: 'What is filled already stays. The venue has the last word.',
      confirmLabel: 'Cancel the order',
      look: 'danger',
      reason: { suggestion: 'canceled on the dashboard' },
    })
    if (answer === null) return
    action.mutate({ reason: answer.reason }, { onError: (error) => toast(errorText(error), 'bad') })
  }
  return (
    <Button size="small" busy={action.isPending} onClick={() => void cancel()}>
      Cancel<span className="sr-only"> {what}</span>
    </Button>
  )
}

const errorText = (error: unknown): string =>
  error instanceof ApiError && error.code === 'route.not_found'
    ? 'This version of the service cannot cancel single orders'
    : titleOf(error)
