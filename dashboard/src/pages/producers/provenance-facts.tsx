import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Provenance } from '../../api/people.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatCount, formatPercent } from '../../ui/format.ts'
import { Facts } from '../../ui/id.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

export const ProvenanceFacts = ({ name }: { readonly name: string }) => {
  const query = useQuery(queries.provenance(name))
  return (
    <QueryContent query={query} what="the provenance">
      {(provenance) => (
        <div className="grid gap-3">
          {provenance.has_provenance ? <Known provenance={provenance} /> : null}
          <p className="text-xs text-muted">
            {provenance.has_provenance ? provenance.note : 'No signal of it has arrived yet.'}
          </p>
        </div>
      )}
    </QueryContent>
  )
}

const Known = ({ provenance }: { readonly provenance: Provenance }) => (
  <>
    <Facts
      facts={[
        [
          'Chain',
          <Badge key="chain" tone={provenance.chain_verified === true ? 'good' : 'bad'}>
            {provenance.chain_verified === true ? 'newest events verified' : 'does not verify'}
          </Badge>,
        ],
        ['Signals', formatCount(provenance.total_signals ?? 0)],
        ['First seen', <Time key="first" at={provenance.first_seen} as="full" />],
        ['Last seen', <Time key="last" at={provenance.last_seen} as="full" />],
        ['Contributors behind it', formatCount(provenance.operator_coverage ?? 0)],
        ['Profit and loss', provenance.p_and_l_attributed === true ? 'attributed' : 'not attributed yet'],
      ]}
    />
    <div className="rounded-md border border-line">
      <Table
        label="Provenance by window"
        columns={COLUMNS}
        rows={Object.entries(provenance.attribution_windows ?? {})}
        rowKey={([name]) => name}
      />
    </div>
  </>
)

type Window = readonly [
  name: string,
  window: { readonly signals: number; readonly hit_rate: number; readonly max_drawdown_pct: number },
]

const COLUMNS: readonly Column<Window>[] = [
  { name: 'Window', render: ([name]) => name.replace('d', ' days') },
  { name: 'Signals', align: 'right', render: ([, { signals }]) => formatCount(signals) },
  { name: 'Hit rate', align: 'right', render: ([, { hit_rate }]) => formatPercent(hit_rate, { digits: 0 }) },
  {
    name: 'Largest drawdown',
    align: 'right',
    render: ([, { max_drawdown_pct }]) => formatPercent(max_drawdown_pct),
  },
]
