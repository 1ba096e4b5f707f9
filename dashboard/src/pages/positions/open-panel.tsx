import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Position } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatPercent } from '../../ui/format.ts'
import { Percent, Pnl, Price, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { distanceTo, returnOf } from './figures.ts'
import { useClose, useCloseAll } from './use-close.ts'

export const OpenPanel = () => {
  const query = useQuery(queries.positions('open'))
  const [selected, setPosition] = useUrlState('position')
  const { close, closingId } = useClose()
  const { closeAll, isPending } = useCloseAll()
  const count = query.data?.length ?? 0
  const columns = columnsWith((position) => (
    <Button
      size="small"
      busy={closingId === position.id}
      disabled={position.status === 'closing'}
      aria-label={`Close ${position.asset}`}
      onClick={(event) => {
        // The row would open its details.
        event.stopPropagation()
        void close(position)
      }}
    >
      {position.status === 'closing' ? 'Closing' : 'Close'}
    </Button>
  ))
  return (
    <QueryPanel
      title="Open positions"
      flush
      query={query}
      actions={
        <Button
          size="small"
          look={count === 0 ? 'plain' : 'danger'}
          disabled={count === 0}
          busy={isPending}
          onClick={() => void closeAll(count)}
        >
          Close all
        </Button>
      }
    >
      {(positions) =>
        positions.length === 0 ? (
          <Empty title="No open positions">
            The brain opens one when conviction is high enough and all limits allow it. The Brain page tells
            why it did not.
          </Empty>
        ) : (
          <Table
            label="Open positions"
            columns={columns}
            rows={positions}
            rowKey={({ id }) => id}
            onOpen={({ id }) => setPosition(id)}
            isSelected={({ id }) => id === selected}
          />
        )
      }
    </QueryPanel>
  )
}

const columnsWith = (button: (position: Position) => React.ReactNode): readonly Column<Position>[] => [
  {
    name: 'Asset',
    render: ({ asset, direction, status }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {asset} <DirectionBadge direction={direction} />
        {status === 'degrading' || status === 'closing' ? <Badge tone="warn">{status}</Badge> : null}
      </span>
    ),
    sortBy: ({ asset }) => asset,
  },
  {
    name: 'Size',
    align: 'right',
    wide: true,
    render: ({ size_notional }) => <Usd value={size_notional} />,
    sortBy: ({ size_notional }) => size_notional,
  },
  { name: 'Entry', align: 'right', wide: true, render: ({ entry_price }) => <Price value={entry_price} /> },
  { name: 'Mark', align: 'right', wide: true, render: ({ mark_price }) => <Price value={mark_price} /> },
  {
    name: 'Stop',
    align: 'right',
    wide: true,
    render: ({ stop_loss, mark_price }) => <LevelCell level={stop_loss} mark={mark_price} />,
    sortBy: ({ stop_loss, mark_price }) => Math.abs(distanceTo(stop_loss, mark_price) ?? Infinity),
  },
  {
    name: 'Target',
    align: 'right',
    wide: true,
    render: ({ take_profit, mark_price }) => <LevelCell level={take_profit} mark={mark_price} />,
    sortBy: ({ take_profit, mark_price }) => Math.abs(distanceTo(take_profit, mark_price) ?? Infinity),
  },
  {
    name: 'P&L',
    align: 'right',
    render: (position) => (
      <>
        <Pnl value={position.unrealized_pnl} />
        <span className="block text-xs">
          <Percent value={returnOf(position)} toned />
        </span>
      </>
    ),
    sortBy: ({ unrealized_pnl }) => unrealized_pnl ?? 0,
  },
  {
    name: 'Opened',
    align: 'right',
    wide: true,
    render: ({ opened_at }) => <Time at={opened_at} as="ago" />,
    sortBy: ({ opened_at }) => opened_at,
  },
  { name: 'Action', align: 'right', render: button },
]

/** A price, and how far it is. */
const LevelCell = ({ level, mark }: { readonly level: number | null; readonly mark: number | null }) => {
  const distance = distanceTo(level, mark)
  return (
    <>
      <Price value={level} />
      {distance === null ? null : (
        <span className="block text-xs text-muted">{formatPercent(distance, { plus: true })}</span>
      )}
    </>
  )
}
