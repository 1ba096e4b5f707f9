import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Position } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge, type Tone } from '../../ui/badge.tsx'
import { formatDuration, formatWords } from '../../ui/format.ts'
import { Percent, Pnl, Price, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { heldMs, returnOf } from './figures.ts'

const REASON_TONES: Readonly<Record<string, Tone>> = {
  stop_loss: 'bad',
  liquidated: 'bad',
  take_profit: 'good',
}

export const ExitBadge = ({ reason }: { readonly reason: string | null }) => (
  <Badge tone={REASON_TONES[reason ?? ''] ?? 'neutral'}>{formatWords(reason ?? 'unknown')}</Badge>
)

export const ClosedPanel = () => {
  const query = useQuery(queries.positions('closed'))
  const [selected, setPosition] = useUrlState('position')
  return (
    <QueryPanel
      title="Closed positions"
      flush
      query={query}
      actions={<span className="text-muted">{query.data?.length ?? ''}</span>}
    >
      {(positions) =>
        positions.length === 0 ? (
          <Empty title="No closed positions">
            A position closes at its stop, at its target, after its time, when the brain changes its mind, or
            by your hand.
          </Empty>
        ) : (
          <Table
            label="Closed positions"
            columns={COLUMNS}
            rows={positions.toSorted((one, other) =>
              (one.closed_at ?? '') < (other.closed_at ?? '') ? 1 : -1,
            )}
            rowKey={({ id }) => id}
            onOpen={({ id }) => setPosition(id)}
            isSelected={({ id }) => id === selected}
          />
        )
      }
    </QueryPanel>
  )
}

const COLUMNS: readonly Column<Position>[] = [
  {
    name: 'Asset',
    render: ({ asset, direction }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {asset} <DirectionBadge direction={direction} />
      </span>
    ),
    sortBy: ({ asset }) => asset,
  },
  { name: 'Exit', render: ({ exit_reason }) => <ExitBadge reason={exit_reason} /> },
  {
    name: 'Size',
    align: 'right',
    wide: true,
    render: ({ size_notional }) => <Usd value={size_notional} />,
    sortBy: ({ size_notional }) => size_notional,
  },
  { name: 'Entry', align: 'right', wide: true, render: ({ entry_price }) => <Price value={entry_price} /> },
  {
    name: 'Exit price',
    align: 'right',
    wide: true,
    render: ({ exit_price }) => <Price value={exit_price} />,
  },
  { name: 'Fees', align: 'right', wide: true, render: ({ fees_usd }) => <Usd value={fees_usd} /> },
  {
    name: 'P&L, net',
    align: 'right',
    render: (position) => (
      <>
        <Pnl value={position.realized_pnl} />
        <span className="block text-xs">
          <Percent value={returnOf(position)} toned />
        </span>
      </>
    ),
    sortBy: ({ realized_pnl }) => realized_pnl ?? 0,
  },
  {
    name: 'Held',
    align: 'right',
    wide: true,
    render: (position) => formatDuration(heldMs(position, 0)),
    sortBy: (position) => heldMs(position, 0),
  },
  {
    name: 'Closed',
    align: 'right',
    render: ({ closed_at }) => <Time at={closed_at} as="ago" />,
    sortBy: ({ closed_at }) => closed_at ?? '',
  },
]
