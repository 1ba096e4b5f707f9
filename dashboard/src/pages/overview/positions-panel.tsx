import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { queries } from '../../api/queries.ts'
import type { Position } from '../../api/trading.ts'
import { DirectionBadge } from '../../ui/badge.tsx'
import { Pnl, Price, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const COLUMNS: readonly Column<Position>[] = [
  { name: 'Asset', render: ({ asset }) => asset, sortBy: ({ asset }) => asset },
  { name: 'Side', render: ({ direction }) => <DirectionBadge direction={direction} /> },
  {
    name: 'Size',
    align: 'right',
    render: ({ size_notional }) => <Usd value={size_notional} />,
    sortBy: ({ size_notional }) => size_notional,
  },
  { name: 'Entry', align: 'right', wide: true, render: ({ entry_price }) => <Price value={entry_price} /> },
  { name: 'Mark', align: 'right', wide: true, render: ({ mark_price }) => <Price value={mark_price} /> },
  { name: 'Stop', align: 'right', wide: true, render: ({ stop_loss }) => <Price value={stop_loss} /> },
  {
    name: 'P&L',
    align: 'right',
    render: ({ unrealized_pnl }) => <Pnl value={unrealized_pnl} />,
    sortBy: ({ unrealized_pnl }) => unrealized_pnl ?? 0,
  },
  { name: 'Opened', align: 'right', wide: true, render: ({ opened_at }) => <Time at={opened_at} as="ago" /> },
]

export const PositionsPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.positions('open'))
  const navigate = useNavigate()
  return (
    <QueryPanel
      title="Open positions"
      flush
      className={className}
      query={query}
      actions={query.data?.length ?? null}
    >
      {(positions) =>
        positions.length === 0 ? (
          <Empty title="No open positions">
            The brain opens one when conviction is high enough and all limits allow it.
          </Empty>
        ) : (
          <Table
            label="Open positions"
            columns={COLUMNS}
            rows={positions}
            rowKey={({ id }) => id}
            onOpen={({ id }) => void navigate({ to: '/positions', search: { position: id } as never })}
          />
        )
      }
    </QueryPanel>
  )
}
