import { useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { ExplainedConviction } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { formatPercent, formatWords } from '../../ui/format.ts'
import { Unknown } from '../../ui/numbers.tsx'
import { Panel, QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { ConvictionBar } from './conviction-bar.tsx'
import { Evidence, SignedBar } from './signed-bar.tsx'
import { actionWord, DOMAINS, holdReason, toneOfAction } from './words.ts'

const TITLE = 'Conviction by symbol'

/** What the newest cycle thinks of each symbol, and what each domain has to do with it. */
export const ConvictionsPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.explanation('last'))
  const [, open] = useUrlState('why')
  if (query.error instanceof ApiProblem && query.error.status === 404) {
    return (
      <Panel title={TITLE} className={className}>
        <Empty title="No cycle yet">
          The first one runs on schedule, once there are signals. &ldquo;Run a cycle&rdquo; does it now.
        </Empty>
      </Panel>
    )
  }
  return (
    <QueryPanel
      title={TITLE}
      flush
      className={className}
      query={query}
      actions={
        query.data === undefined ? null : (
          <span className="text-muted">
            cycle of <Time at={query.data.ts} />
          </span>
        )
      }
    >
      {({ convictions }) =>
        convictions.length === 0 ? (
          <Empty title="This cycle judged no symbol">
            No symbol has signals. Look at the producers: somebody has to say something.
          </Empty>
        ) : (
          <Table
            label="Convictions"
            isBounded
            columns={columnsFor(convictions)}
            rows={convictions}
            rowKey={({ conviction_id }) => conviction_id}
            onOpen={({ conviction_id }) => open(conviction_id)}
          />
        )
      }
    </QueryPanel>
  )
}

const columnsFor = (convictions: readonly ExplainedConviction[]): readonly Column<ExplainedConviction>[] => {
  const strongest = Math.max(
    0.001,
    ...convictions.flatMap(({ domains }) => domains.map(({ contribution }) => Math.abs(contribution))),
  )
  return [
    {
      name: 'Symbol',
      render: ({ symbol }) => <span className="underline decoration-line underline-offset-4">{symbol}</span>,
      sortBy: ({ symbol }) => symbol,
    },
    { name: 'View', render: ({ direction }) => <DirectionBadge direction={direction} /> },
    {
      name: 'Conviction',
      render: ({ effective_conviction, direction }) => (
        <ConvictionBar value={effective_conviction} direction={direction} />
      ),
      sortBy: ({ effective_conviction }) => effective_conviction,
    },
    {
      name: 'Evidence',
      align: 'right',
      wide: true,
      render: ({ value }) => <Evidence value={value} />,
      sortBy: ({ value }) => value,
    },
    ...DOMAINS.map((domain) => ({
      name: domain,
      align: 'right' as const,
      wide: true,
      render: (conviction: ExplainedConviction) => (
        <DomainCell conviction={conviction} domain={domain} strongest={strongest} />
      ),
    })),
    {
      name: 'Coverage',
      align: 'right',
      wide: true,
      render: ({ coverage }) => formatPercent(coverage, { digits: 0 }),
      sortBy: ({ coverage }) => coverage,
    },
    { name: 'Decision', render: (conviction) => <Decision conviction={conviction} /> },
  ]
}

interface DomainCellProps {
  readonly conviction: ExplainedConviction
  readonly domain: string
  readonly strongest: number
}

const DomainCell = ({ conviction, domain, strongest }: DomainCellProps) => {
  const found = conviction.domains.find((one) => one.domain === domain)
  if (found === undefined) return <Unknown why="no usable signal" />
  return (
    <span className="inline-grid w-16 gap-1">
      <Evidence value={found.contribution} />
      <SignedBar value={found.contribution} full={strongest} />
    </span>
  )
}

const Decision = ({ conviction: { decision, intent } }: { readonly conviction: ExplainedConviction }) => (
  <span className="flex items-center gap-2">
    <Badge tone={toneOfAction(decision.action)}>{actionWord(decision.action)}</Badge>
    <span className="text-xs text-muted max-md:hidden">
      {intent === null
        ? (decision.reasons ?? []).map(holdReason).join('; ')
        : `intent ${formatWords(intent.status)}`}
    </span>
  </span>
)
