import { useQuery } from '@tanstack/react-query'
import type { KarmaReceipt } from '../../api/people.ts'
import { queries } from '../../api/queries.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Id } from '../../ui/id.tsx'
import { Unknown } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Karma } from './karma-amount.tsx'
import { SignatureBadge } from './signature-badge.tsx'

export const RECEIPT_TONES: Readonly<Record<KarmaReceipt['status'], Tone>> = {
  pending: 'neutral',
  submitted: 'accent',
  confirmed: 'good',
  failed: 'bad',
}

interface ReceiptsPanelProps {
  readonly className: string
  readonly onOpen: (receipt: KarmaReceipt) => void
}

export const ReceiptsPanel = ({ className, onOpen }: ReceiptsPanelProps) => {
  const query = useQuery(queries.karmaReceipts())
  return (
    <QueryPanel title="Receipts" flush className={className} query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No receipts yet">
            Every settlement leaves one, signed by this node. Anybody can check it without this service.
          </Empty>
        ) : (
          <Table
            label="All receipts"
            columns={COLUMNS}
            rows={items}
            rowKey={({ id }) => id}
            onOpen={onOpen}
          />
        )
      }
    </QueryPanel>
  )
}

const COLUMNS: readonly Column<KarmaReceipt>[] = [
  {
    name: 'Settled',
    render: ({ created_at }) => <Time at={created_at} />,
    sortBy: ({ created_at }) => created_at,
  },
  {
    name: 'Total',
    align: 'right',
    render: ({ total_usd }) => <Karma usd={total_usd} />,
    sortBy: ({ total_usd }) => total_usd,
  },
  { name: 'Intents', align: 'right', wide: true, render: ({ intent_ids }) => intent_ids.length },
  { name: 'To', wide: true, render: ({ destination_wallet }) => <Id id={destination_wallet} /> },
  {
    name: 'Transaction',
    wide: true,
    render: ({ tx_hash }) => (tx_hash === null ? <Unknown why="none was told" /> : <Id id={tx_hash} />),
  },
  {
    name: 'Status',
    wide: true,
    render: ({ status }) => <Badge tone={RECEIPT_TONES[status]}>{status}</Badge>,
  },
  {
    name: 'Mode',
    wide: true,
    render: ({ mode }) => <Badge tone={mode === 'live' ? 'warn' : 'neutral'}>{mode}</Badge>,
  },
  { name: 'Signature', align: 'right', render: (receipt) => <SignatureBadge signed={receipt} /> },
]
