import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Position } from '../../api/types.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { AdoptedBadge, Badge, DirectionBadge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatCount, formatDuration, formatPercent, formatUsd, formatWords } from '../../ui/format.ts'
import { Percent, Pnl, Price, Stat, Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, numberColumn, Table } from '../../ui/table.tsx'
import { distanceTo, heldMs, recordOf, returnOf } from './figures.ts'
import { PositionSheet } from './position-sheet.tsx'
import { useClose, useCloseAll } from './use-close.ts'

/** Open and closed positions. */
export const Page = () => {
  const [position, setPosition] = useUrlState('position')
  return (
    <div className="grid gap-3">
      <SummaryPanel />
      <OpenPanel />
      <ClosedPanel />
      {position === '' ? null : (
        <PositionSheet key={position} id={position} onClose={() => setPosition('')} />
      )}
    </div>
  )
}

/** Results of all positions. */
const SummaryPanel = () => {
  const portfolio = useQuery(queries.portfolio())
  const closed = useQuery(queries.positions('closed'))
  const record = recordOf(closed.data ?? [])
  return (
    <QueryPanel title="Result" query={portfolio}>
      {(account) => (
        <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 xl:grid-cols-6">
          <Stat label="Unrealized" note={`${account.open_positions} open`}>
            <Pnl value={account.unrealized_pnl_usd} />
          </Stat>
          <Stat label="Exposure" note={`margin ${formatUsd(account.margin_usd)}`}>
            <Usd value={account.exposure_usd} />
          </Stat>
          <Stat label="Loss at all stops" note={<Percent value={account.heat} />}>
            <Usd value={account.loss_at_stop_usd} />
          </Stat>
          <Stat label="Realized, net" note={`fees ${formatUsd(account.fees_usd)}`}>
            <Pnl value={account.realized_pnl_usd} />
          </Stat>
          <Stat label="Win rate" note={`${formatCount(record.wins)} of ${formatCount(record.count)} closed`}>
            {record.count === 0 ? (
              <Unknown why="nothing closed yet" />
            ) : (
              <Percent value={record.wins / record.count} digits={0} />
            )}
          </Stat>
          <Stat label="Average win" note={<AverageLoss usd={record.averageLossUsd} />}>
            <Pnl value={record.averageWinUsd} />
          </Stat>
        </dl>
      )}
    </QueryPanel>
  )
}

const AverageLoss = ({ usd }: { readonly usd: number | null }) => (
  <>average loss {usd === null ? '–' : formatUsd(usd)}</>
)

const OpenPanel = () => {
  const query = useQuery(queries.positions('open'))
  const [selected, setPosition] = useUrlState('position')
  const count = query.data?.length ?? 0
  const close = useClose()
  const closeAll = useCloseAll(count)
  const columns = columnsWith((position) => (
    <Button
      size="small"
      busy={close.isPending && close.input?.id === position.id}
      disabled={position.status === 'closing'}
      aria-label={`Close ${position.asset}`}
      onClick={(event) => {
        // Otherwise the row opens its details.
        event.stopPropagation()
        close.run(position)
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
          busy={closeAll.isPending}
          onClick={() => closeAll.run()}
        >
          Close all
        </Button>
      }
    >
      {(positions) =>
        positions.length === 0 ? (
          <Empty title="No open positions">
            The brain opens one when conviction is high enough and all limits allow it. The Brain page shows
            why not.
          </Empty>
        ) : (
          <Table
            label="List of open positions"
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
    render: ({ asset, direction, status, adopted }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {asset} <DirectionBadge direction={direction} />
        {adopted ? <AdoptedBadge /> : null}
        {status === 'degrading' || status === 'closing' ? <Badge tone="warn">{status}</Badge> : null}
      </span>
    ),
    sortBy: ({ asset }) => asset,
  },
  numberColumn('Size', ({ size_notional }) => size_notional, Usd, { wide: true }),
  numberColumn('Entry', ({ entry_price }) => entry_price, Price, { wide: true }),
  numberColumn('Mark', ({ mark_price }) => mark_price, Price, { wide: true }),
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
  ageColumn('Opened', ({ opened_at }) => opened_at, { wide: true }),
  { name: 'Action', align: 'right', render: button },
]

/** A level and its distance from the price. */
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

const REASON_TONES: Readonly<Record<string, Tone>> = {
  stop_loss: 'bad',
  liquidated: 'bad',
  take_profit: 'good',
}

export const ExitBadge = ({ reason }: { readonly reason: string | null }) => (
  <Badge tone={REASON_TONES[reason ?? ''] ?? 'neutral'}>{formatWords(reason ?? 'unknown')}</Badge>
)

const ClosedPanel = () => {
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
            A position closes at its stop or target, after its maximum holding time, when the conviction
            flips, or manually.
          </Empty>
        ) : (
          <Table
            label="List of closed positions"
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
    render: ({ asset, direction, adopted }) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {asset} <DirectionBadge direction={direction} />
        {adopted ? <AdoptedBadge /> : null}
      </span>
    ),
    sortBy: ({ asset }) => asset,
  },
  { name: 'Exit', render: ({ exit_reason }) => <ExitBadge reason={exit_reason} /> },
  numberColumn('Size', ({ size_notional }) => size_notional, Usd, { wide: true }),
  numberColumn('Entry', ({ entry_price }) => entry_price, Price, { wide: true }),
  numberColumn('Exit price', ({ exit_price }) => exit_price, Price, { wide: true }),
  numberColumn('Fees', ({ fees_usd }) => fees_usd, Usd, { wide: true }),
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
  ageColumn('Closed', ({ closed_at }) => closed_at),
]
