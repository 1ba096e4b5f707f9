import { useQuery } from '@tanstack/react-query'
import { isNotFound } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import type { ConvictionInput, ExplainedConviction } from '../../api/types.ts'
import { PageLink } from '../../app/page-link.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge, DirectionBadge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { formatFixed, formatNumber, formatWords } from '../../ui/format.ts'
import { Score, Share, Unknown } from '../../ui/numbers.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, Table, TablePanel, WIDE } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { actionText, DOMAINS, holdText, toneOfAction } from './labels.ts'

const TITLE = 'Conviction by symbol'

/** The convictions of the newest cycle, with the contribution of each domain. */
export const ConvictionsPanel = ({ className = '' }: { readonly className?: string }) => {
  const query = useQuery(queries.explanation('last'))
  const [, open] = useUrlState('why')
  if (isNotFound(query.error)) {
    return (
      <Panel title={TITLE} className={className}>
        <Empty title="No cycle yet">
          The first one runs on schedule, once there are signals. &ldquo;Run a cycle&rdquo; does it now.
        </Empty>
      </Panel>
    )
  }
  return (
    <TablePanel
      title={TITLE}
      className={className}
      query={query}
      actions={
        query.data === undefined ? null : (
          <span className="text-muted">
            cycle of <Time at={query.data.ts} />
          </span>
        )
      }
      label="Convictions"
      isBounded
      columns={columnsFor(query.data?.convictions ?? [])}
      rows={({ convictions }) => convictions}
      rowKey={({ conviction_id }) => conviction_id}
      onOpen={({ conviction_id }) => open(conviction_id)}
      empty={
        <Empty title="No symbols in this cycle">No symbol has usable signals. Check the producers.</Empty>
      }
    />
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
    numberColumn('Evidence', ({ value }) => value, Evidence, WIDE),
    ...DOMAINS.map((domain) => ({
      name: domain,
      align: 'right' as const,
      wide: true,
      render: (conviction: ExplainedConviction) => (
        <DomainCell conviction={conviction} domain={domain} strongest={strongest} />
      ),
    })),
    numberColumn('Coverage', ({ coverage }) => coverage, Share, WIDE),
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
    <Badge tone={toneOfAction(decision.action)}>{actionText(decision.action)}</Badge>
    <span className="text-xs text-muted max-md:hidden">
      {intent === null
        ? (decision.reasons ?? []).map(holdText).join('; ')
        : `intent ${formatWords(intent.status)}`}
    </span>
  </span>
)

/** Formatted with three decimals, so that columns line up. */
const formatEvidence = (value: number): string => formatFixed(value, 3, { plus: true })

const toneOf = (value: number): string => {
  if (Math.abs(value) < 0.0005) return 'text-muted'
  return value > 0 ? 'text-good' : 'text-bad'
}

/** Evidence in numbers: + for rising prices, − for falling ones. */
export const Evidence = ({ value }: { readonly value: number | null }) =>
  value === null ? (
    <Unknown />
  ) : (
    <span className={cx('whitespace-nowrap', toneOf(value))}>{formatEvidence(value)}</span>
  )

const Author = ({ author, domain }: Pick<ConvictionInput, 'author' | 'domain'>) => (
  <>
    <Untrusted lines={1} text={author} />
    <span className="inline-block w-full text-xs text-muted">{domain}</span>
  </>
)

const AUTHOR_WIDTH = 'block max-w-44 max-sm:max-w-28'

const authorColumn = (hasLinks: boolean): Column<ConvictionInput> => ({
  name: 'Author',
  render: ({ author, signal_id, domain }) =>
    hasLinks ? (
      <PageLink to="/signals" search={{ signal: signal_id }} className={AUTHOR_WIDTH}>
        <Author author={author} domain={domain} />
      </PageLink>
    ) : (
      <span className={AUTHOR_WIDTH}>
        <Author author={author} domain={domain} />
      </span>
    ),
  sortBy: ({ author }) => author,
})

const COLUMNS: readonly Column<ConvictionInput>[] = [
  numberColumn('Evidence', ({ evidence }) => evidence, Evidence),
  numberColumn('Share', ({ share }) => share, Share),
  numberColumn('Quality', ({ quality }) => quality, Score, {
    wide: true,
    render: ({ quality }) => formatNumber(quality),
  }),
  numberColumn('Contribution', ({ contribution }) => contribution, Evidence, {
    sortBy: ({ contribution }) => Math.abs(contribution),
  }),
]

interface InputsTableProps {
  readonly inputs: readonly ConvictionInput[]
  /** False for a backtest, whose signals are in no log. */
  readonly hasLinks?: boolean
}

export const InputsTable = ({ inputs, hasLinks = true }: InputsTableProps) =>
  inputs.length === 0 ? (
    <p className="text-sm text-muted">No usable signals for this symbol.</p>
  ) : (
    <div className="rounded-md border border-line">
      <Table
        label="Signals behind the decision"
        columns={[authorColumn(hasLinks), ...COLUMNS]}
        rows={inputs}
        rowKey={({ signal_id }) => signal_id}
        limit={50}
      />
    </div>
  )

/** Value of a conviction without evidence either way. */
const NOTHING = 50
const FULL = 100

const DEFAULT_TIERS: readonly number[] = []

/** Convictions from which trades follow, as configured now. */
const useTiers = (): readonly number[] => {
  const { data } = useQuery(queries.config())
  const brain = data?.['brain']
  const tiers = typeof brain === 'object' && brain !== null && 'tiers' in brain ? brain.tiers : null
  return Array.isArray(tiers) ? tiers.filter((tier) => typeof tier === 'number') : DEFAULT_TIERS
}

const placeOf = (conviction: number): string =>
  `${Math.min(100, Math.max(0, ((conviction - NOTHING) / (FULL - NOTHING)) * 100))}%`

const FILLS: Readonly<Record<ExplainedConviction['direction'], string>> = {
  long: 'bg-good',
  short: 'bg-bad',
  neutral: 'bg-muted',
}

interface ConvictionBarProps {
  readonly value: number
  readonly direction: ExplainedConviction['direction']
}

/** Strength of a conviction, from 50 (none) to 100, with the thresholds for trades. */
export const ConvictionBar = ({ value, direction }: ConvictionBarProps) => {
  const tiers = useTiers()
  const first = tiers[0]
  return (
    <span className="flex items-center gap-2">
      <strong
        className={cx(
          'w-10 shrink-0 text-right font-semibold',
          first !== undefined && value < first && 'text-muted',
        )}
      >
        {formatFixed(value, 1)}
      </strong>
      <span
        className="relative block h-2 w-full min-w-16 md:min-w-28 rounded-full bg-raised"
        title={`${formatNumber(value, 2)} of 100; trades from ${tiers.join(', ')}`}
      >
        <span
          className={cx('absolute inset-y-0 left-0 rounded-full', FILLS[direction])}
          style={{ width: placeOf(value) }}
        />
        {tiers.map((tier) => (
          <span
            key={tier}
            aria-hidden
            className="absolute -inset-y-0.5 w-px bg-text/60"
            style={{ left: placeOf(tier) }}
          />
        ))}
      </span>
    </span>
  )
}

interface SignedBarProps {
  readonly value: number
  /** Value that fills one half. */
  readonly full: number
}

/** A bar from the middle: to the right for rising, to the left for falling. The number beside it states the same. */
export const SignedBar = ({ value, full }: SignedBarProps) => {
  const share = full > 0 ? Math.min(1, Math.abs(value) / full) : 0
  return (
    <span aria-hidden className="relative block h-1.5 w-full rounded-full bg-raised">
      <span className="absolute -inset-y-0.5 left-1/2 w-px bg-muted/60" />
      <span
        className={cx('absolute inset-y-0 rounded-full', value >= 0 ? 'bg-good' : 'bg-bad')}
        style={
          value >= 0 ? { left: '50%', width: `${share * 50}%` } : { right: '50%', width: `${share * 50}%` }
        }
      />
    </span>
  )
}
