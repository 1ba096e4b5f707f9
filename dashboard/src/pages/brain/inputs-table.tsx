import { Link } from '@tanstack/react-router'
import type { ConvictionInput } from '../../api/trading.ts'
import { formatNumber, formatPercent } from '../../ui/format.ts'
import { Table, type Column } from '../../ui/table.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { Evidence } from './signed-bar.tsx'

const COLUMNS: readonly Column<ConvictionInput>[] = [
  {
    name: 'Author',
    render: ({ author, signal_id, domain }) => (
      <Link
        to="/signals"
        search={{ signal: signal_id } as never}
        className="block max-w-44 underline decoration-line underline-offset-4 max-sm:max-w-28"
      >
        <Untrusted lines={1} text={author} />
        <span className="block text-xs text-muted no-underline">{domain}</span>
      </Link>
    ),
    sortBy: ({ author }) => author,
  },
  {
    name: 'Says',
    align: 'right',
    render: ({ evidence }) => <Evidence value={evidence} />,
    sortBy: ({ evidence }) => evidence,
  },
  {
    name: 'Share',
    align: 'right',
    render: ({ share }) => formatPercent(share, { digits: 0 }),
    sortBy: ({ share }) => share,
  },
  {
    name: 'Fresh',
    align: 'right',
    wide: true,
    render: ({ quality }) => formatNumber(quality),
    sortBy: ({ quality }) => quality,
  },
  {
    name: 'Adds',
    align: 'right',
    render: ({ contribution }) => <Evidence value={contribution} />,
    sortBy: ({ contribution }) => Math.abs(contribution),
  },
]

export const InputsTable = ({ inputs }: { readonly inputs: readonly ConvictionInput[] }) =>
  inputs.length === 0 ? (
    <p className="text-sm text-muted">Nobody said anything about this symbol that still counts.</p>
  ) : (
    <div className="rounded-md border border-line">
      <Table
        label="Signals behind the decision"
        columns={COLUMNS}
        rows={inputs}
        rowKey={({ signal_id }) => signal_id}
        limit={50}
      />
    </div>
  )
