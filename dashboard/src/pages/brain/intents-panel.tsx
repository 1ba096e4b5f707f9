import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Intent, IntentStatus } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatNumber, formatPercent, formatWords } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { INTENT_TONES, refusalReason } from './words.ts'

const STATUSES = [
  ['all', 'All'],
  ['rejected', 'Refused'],
  ['expired', 'Expired'],
  ['awaiting_approval', 'Waiting for approval'],
  ['executing', 'Executing'],
  ['filled', 'Filled'],
] as const

const COLUMNS: readonly Column<Intent>[] = [
  {
    name: 'Symbol',
    render: ({ symbol }) => <span className="underline decoration-line underline-offset-4">{symbol}</span>,
    sortBy: ({ symbol }) => symbol,
  },
  { name: 'Side', render: ({ direction }) => <DirectionBadge direction={direction} /> },
  {
    name: 'Conviction',
    align: 'right',
    wide: true,
    render: ({ conviction_score }) => formatNumber(conviction_score, 1),
    sortBy: ({ conviction_score }) => conviction_score,
  },
  {
    name: 'Size of equity',
    align: 'right',
    wide: true,
    render: ({ size_pct }) => formatPercent(size_pct),
    sortBy: ({ size_pct }) => size_pct,
  },
  {
    name: 'What became of it',
    render: ({ status, reasons }) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone={INTENT_TONES[status]}>{status === 'rejected' ? 'refused' : formatWords(status)}</Badge>
        <span className="text-xs text-muted">{reasons.map(refusalReason).join('; ')}</span>
      </span>
    ),
    sortBy: ({ status }) => status,
  },
]

export const IntentsPanel = ({ className = '' }: { readonly className?: string }) => {
  const [status, setStatus] = useUrlState('intents', 'all')
  const query = useQuery(queries.intents(status as IntentStatus | 'all', 100))
  const [, openWhy] = useUrlState('why')
  return (
    <QueryPanel
      title="Intents"
      flush
      className={className}
      query={query}
      actions={<Choice label="Status of intents" value={status} choices={STATUSES} onChoose={setStatus} />}
    >
      {(intents) =>
        intents.length === 0 ? (
          <Empty title={status === 'all' ? 'No intents yet' : 'No such intents'}>
            {status === 'all'
              ? 'One follows when conviction reaches the first step and nothing holds it back. The funnel says what does.'
              : 'Choose another status.'}
          </Empty>
        ) : (
          <div className="max-h-[30rem] overflow-y-auto">
            <Table
              label="List of intents"
              columns={COLUMNS}
              rows={intents}
              rowKey={({ intent_id }) => intent_id}
              onOpen={({ conviction_id }) => openWhy(conviction_id)}
              limit={100}
            />
          </div>
        )
      }
    </QueryPanel>
  )
}
