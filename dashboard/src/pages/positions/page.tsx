import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Position } from '../../api/types.ts'
import { OldPriceBadge, OldPricesBadge } from '../../app/old-prices.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { AdoptedBadge, Badge, DirectionBadge, ExitBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { formatCount, formatPercent, formatUsd } from '../../ui/format.ts'
import { Duration, Percent, Pnl, Price, Stat, Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ageColumn, type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { distanceTo, heldMs, isOpen, pnlOf, recordOf, returnOf } from './figures.ts'
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
    <QueryPanel title="Result" query={portfolio} actions={<OldPricesBadge />}>
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
          <Stat label="Win rate" note={closed.data === undefined ? 'not known' : winsText(record)}>
            {record.count === 0 ? (
              <Unknown why={closed.data === undefined ? 'not known' : 'nothing closed yet'} />
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

/** The API lists no more. */
const CLOSED_MAX = 500

const winsText = ({ wins, count }: { readonly wins: number; readonly count: number }): string =>
  `${formatCount(wins)} of ${count < CLOSED_MAX ? '' : 'the newest '}${formatCount(count)} closed`

const AverageLoss = ({ usd }: { readonly usd: number | null }) => (
  <>average loss {usd === null ? '–' : formatUsd(usd)}</>
)

const OpenPanel = () => {
  const query = useQuery(queries.positions('open'))
  const [selected, setPosition] = useUrlState('position')
  const count = query.data?.length
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
    <TablePanel
      title="Open positions"
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
      columns={columns}
      rows={(positions) => positions}
      rowKey={({ id }) => id}
      onOpen={({ id }) => setPosition(id)}
      isSelected={({ id }) => id === selected}
      empty={
        <Empty title="No open positions">
          The brain opens one when conviction is high enough and all limits allow it. The Brain page shows why
          not.
        </Empty>
      }
    />
  )
}

/** Asset, direction and what is special about a position. */
const AssetCell = ({ position }: { readonly position: Position }) => {
  const { asset, direction, status, adopted } = position
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {asset} <DirectionBadge direction={direction} />
      {adopted ? <AdoptedBadge /> : null}
      {isOpen(position) ? <OldPriceBadge asset={asset} /> : null}
      {status === 'degrading' || status === 'closing' ? <Badge tone="warn">{status}</Badge> : null}
    </span>
  )
}

const ASSET: Column<Position> = {
  name: 'Asset',
  render: (position) => <AssetCell position={position} />,
  sortBy: ({ asset }) => asset,
}

const pnlColumn = (name: string): Column<Position> => ({
  name,
  align: 'right',
  render: (position) => (
    <>
      <Pnl value={pnlOf(position)} />
      <span className="block text-xs">
        <Percent value={returnOf(position)} toned />
      </span>
    </>
  ),
  sortBy: (position) => pnlOf(position) ?? 0,
})

const levelColumn = (name: string, levelOf: (position: Position) => number | null): Column<Position> => ({
  name,
  align: 'right',
  wide: true,
  render: (position) => <LevelCell level={levelOf(position)} mark={position.mark_price} />,
  sortBy: (position) => Math.abs(distanceTo(levelOf(position), position.mark_price) ?? Infinity),
})

const columnsWith = (button: (position: Position) => React.ReactNode): readonly Column<Position>[] => [
  ASSET,
  numberColumn('Size', ({ size_notional }) => size_notional, Usd, WIDE),
  numberColumn('Entry', ({ entry_price }) => entry_price, Price, WIDE),
  numberColumn('Mark', ({ mark_price }) => mark_price, Price, WIDE),
  levelColumn('Stop', ({ stop_loss }) => stop_loss),
  levelColumn('Target', ({ take_profit }) => take_profit),
  pnlColumn('P&L'),
  ageColumn('Opened', ({ opened_at }) => opened_at, WIDE),
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

const ClosedPanel = () => {
  const query = useQuery(queries.positions('closed'))
  const [selected, setPosition] = useUrlState('position')
  return (
    <TablePanel
      title="Closed positions"
      query={query}
      actions={<span className="text-muted">{query.data?.length ?? ''}</span>}
      columns={COLUMNS}
      rows={(positions) =>
        positions.toSorted((one, other) => ((one.closed_at ?? '') < (other.closed_at ?? '') ? 1 : -1))
      }
      rowKey={({ id }) => id}
      onOpen={({ id }) => setPosition(id)}
      isSelected={({ id }) => id === selected}
      empty={
        <Empty title="No closed positions">
          A position closes at its stop or target, after its maximum holding time, when the conviction flips,
          or manually.
        </Empty>
      }
    />
  )
}

const COLUMNS: readonly Column<Position>[] = [
  ASSET,
  { name: 'Exit', render: ({ exit_reason }) => <ExitBadge reason={exit_reason} /> },
  numberColumn('Size', ({ size_notional }) => size_notional, Usd, WIDE),
  numberColumn('Entry', ({ entry_price }) => entry_price, Price, WIDE),
  numberColumn('Exit price', ({ exit_price }) => exit_price, Price, WIDE),
  numberColumn('Fees', ({ fees_usd }) => fees_usd, Usd, WIDE),
  pnlColumn('P&L, net'),
  numberColumn('Held', (position) => heldMs(position, 0), Duration, WIDE),
  ageColumn('Closed', ({ closed_at }) => closed_at),
]
