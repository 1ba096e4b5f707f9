import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { formatCount, formatUsd } from '../../ui/format.ts'
import { Percent, Pnl, Stat, Unknown, Usd } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { recordOf } from './figures.ts'

/** What all positions come to. */
export const SummaryPanel = () => {
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
          <Stat label="Won" note={`${formatCount(record.wins)} of ${formatCount(record.count)} closed`}>
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
