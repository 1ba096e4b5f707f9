import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { BrainStatus, EventItem, Explanation, Intent, IntentStatus } from '../../api/types.ts'
import { useRunCycle } from '../../app/command-palette.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEventList } from '../../live/live.ts'
import { Badge, DirectionBadge, RegimeBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/field.tsx'
import { formatFixed, formatWords, textOf, textsOf } from '../../ui/format.ts'
import { Count, Duration, Percent, Score, Stat } from '../../ui/numbers.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { type Column, numberColumn, TablePanel, WIDE } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ConvictionsPanel } from './convictions.tsx'
import { FunnelPanel } from './funnel-panel.tsx'
import { RegimePanel } from './regime-panel.tsx'
import { CycleSheet, WhySheet } from './sheets.tsx'
import { WeightsPanel } from './weights-panel.tsx'
import { INTENT_TONES, rejectionText } from './labels.ts'

/** Convictions, decisions and their consequences. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <StatePanel className="lg:col-span-12" />
    <ConvictionsPanel className="lg:col-span-12" />
    <FunnelPanel className="lg:col-span-5" />
    <IntentsPanel className="lg:col-span-7" />
    <CyclesPanel className="lg:col-span-12" />
    <RegimePanel className="lg:col-span-6" />
    <WeightsPanel className="lg:col-span-6" />
    <CycleSheet />
    <WhySheet />
  </div>
)

const StatePanel = ({ className = '' }: { readonly className?: string }) => {
  const status = useQuery(queries.brainStatus())
  const { data: last } = useQuery(queries.explanation('last'))
  return (
    <QueryPanel
      title="Status"
      className={className}
      query={status}
      actions={<RunCycle level={status.data?.kill_switch_level} />}
    >
      {(brain) => <Figures brain={brain} last={last} />}
    </QueryPanel>
  )
}

const RunCycle = ({ level }: { readonly level: number | undefined }) => {
  const cycle = useRunCycle()
  const isBlocked = level !== undefined && level > 0
  return (
    <>
      {isBlocked ? <span className="text-warn">Manual cycles need level 0</span> : null}
      <Button
        size="small"
        look="primary"
        busy={cycle.isPending}
        disabled={isBlocked}
        onClick={() => cycle.run()}
      >
        Run a cycle
      </Button>
    </>
  )
}

interface FiguresProps {
  readonly brain: BrainStatus
  readonly last: Explanation | undefined
}

const Figures = ({ brain, last }: FiguresProps) => {
  const convictions = last?.convictions ?? []
  const strongest = convictions.toSorted(
    (one, other) => other.effective_conviction - one.effective_conviction,
  )[0]
  const traded = convictions.filter(({ intent }) => intent !== null).length
  return (
    <div className="grid gap-3">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5">
        <Stat
          label="Regime"
          note={
            brain.regime_changed_at === null ? (
              'set by the first cycle'
            ) : (
              <>
                since <Time at={brain.regime_changed_at} as="ago" />
              </>
            )
          }
        >
          {brain.regime === null ? <Badge>unknown</Badge> : <RegimeBadge regime={brain.regime} />}
        </Stat>
        <Stat
          label="Last cycle"
          note={last?.trigger === undefined || last.trigger === null ? 'none yet' : `by ${last.trigger}`}
        >
          <Time at={brain.last_cycle_at} as="ago" />
        </Stat>
        <Stat label="Symbols" note="in the last cycle">
          <Count value={last?.convictions.length} />
        </Stat>
        <Stat label="Intents" note="in the last cycle">
          <Count value={last === undefined ? undefined : traded} />
        </Stat>
        <Stat
          label="Strongest"
          note={
            strongest === undefined
              ? 'no cycle yet'
              : `conviction ${formatFixed(strongest.effective_conviction, 1)}`
          }
        >
          {strongest === undefined ? '–' : `${strongest.symbol} ${strongest.direction}`}
        </Stat>
      </dl>
      {last === undefined || last.warnings.length === 0 ? null : (
        <ul
          className="grid gap-1 rounded-md bg-warn-soft px-3 py-2 text-[13px] text-warn"
          aria-label="Warnings"
        >
          {last.warnings.map((warning) => (
            <li key={warning}>
              <Untrusted text={warning} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const STATUSES = [
  ['all', 'All'],
  ['rejected', 'Rejected'],
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
  numberColumn('Conviction', ({ conviction_score }) => conviction_score, Score, WIDE),
  numberColumn('Size of equity', ({ size_pct }) => size_pct, Percent, WIDE),
  {
    name: 'Outcome',
    render: ({ status, reasons }) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone={INTENT_TONES[status]}>{formatWords(status)}</Badge>
        <span className="text-xs text-muted">{reasons.map(rejectionText).join('; ')}</span>
      </span>
    ),
    sortBy: ({ status }) => status,
  },
]

const IntentsPanel = ({ className = '' }: { readonly className?: string }) => {
  const [status, setStatus] = useUrlState('intents', 'all')
  const query = useQuery(queries.intents(status as IntentStatus | 'all', 100))
  const [, openWhy] = useUrlState('why')
  return (
    <TablePanel
      title="Intents"
      className={className}
      query={query}
      actions={<Choice label="Status of intents" value={status} choices={STATUSES} onChoose={setStatus} />}
      isBounded
      columns={COLUMNS}
      rows={(intents) => intents}
      rowKey={({ intent_id }) => intent_id}
      onOpen={({ conviction_id }) => openWhy(conviction_id)}
      empty={
        <Empty title={status === 'all' ? 'No intents yet' : 'No such intents'}>
          {status === 'all'
            ? 'An intent follows when conviction reaches the first tier and no rule blocks it. The funnel shows what does.'
            : 'Choose another status.'}
        </Empty>
      }
    />
  )
}

const CYCLES_MAX = 50

/** Every cycle with its intents and the reasons for rejections. */
const CyclesPanel = ({ className = '' }: { readonly className?: string }) => {
  const { query, events } = useEventList({ type: 'brain.cycle', limit: CYCLES_MAX })
  const { data: intents = [] } = useQuery(queries.intents('all', 500))
  const [, open] = useUrlState('cycle')
  return (
    <TablePanel
      title="Cycle log"
      className={className}
      query={query}
      label="Cycles"
      isBounded
      columns={columnsFor(Map.groupBy(intents, ({ cycle_id }) => cycle_id))}
      rows={() => events.map(cycleOf)}
      rowKey={({ id }) => id}
      onOpen={({ id }) => open(id)}
      empty={
        <Empty title="No cycle yet">
          Cycles run on schedule (brain.cycle_interval_seconds) and on request, not while the kill switch is
          raised.
        </Empty>
      }
    />
  )
}

type ByCycle = ReadonlyMap<string, readonly Intent[]>

const columnsFor = (byCycle: ByCycle): readonly Column<Cycle>[] => [
  { name: 'Time', render: ({ ts }) => <Time at={ts} /> },
  { name: 'By', wide: true, render: ({ trigger }) => trigger },
  { name: 'Regime', render: ({ regime }) => <RegimeBadge regime={regime} /> },
  {
    name: 'Kill switch',
    wide: true,
    render: ({ killSwitchLevel }) =>
      killSwitchLevel === 0 ? (
        <span className="text-muted">0</span>
      ) : (
        <Badge tone="warn">level {killSwitchLevel}</Badge>
      ),
  },
  numberColumn('Symbols', ({ symbols }) => symbols.length, Count, WIDE),
  numberColumn('Intents', ({ intents }) => intents, Count),
  {
    name: 'Outcome',
    render: (cycle) => <Outcome cycle={cycle} intents={byCycle.get(cycle.id) ?? []} />,
  },
  numberColumn('Took', ({ durationMs }) => durationMs, Duration, WIDE),
]

const Outcome = ({ cycle, intents }: { readonly cycle: Cycle; readonly intents: readonly Intent[] }) => {
  const filled = intents.filter(({ status }) => status === 'filled')
  const refused = intents.filter(({ status }) => status === 'rejected' || status === 'expired')
  const underWay = intents.length - filled.length - refused.length
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {filled.length === 0 ? null : (
        <Badge hasName tone="good">
          {symbolsOf(filled)} filled
        </Badge>
      )}
      {underWay === 0 ? null : <Badge tone="accent">{underWay} in progress</Badge>}
      {refused.map((intent) => (
        <Badge hasName key={intent.intent_id} tone="bad" title={intent.reasons.map(rejectionText).join('; ')}>
          <span>
            {intent.symbol} {intent.status}
            <span className="font-normal max-md:hidden">
              {intent.reasons[0] === undefined ? '' : `: ${rejectionText(intent.reasons[0])}`}
            </span>
          </span>
        </Badge>
      ))}
      {cycle.warnings.length === 0 ? null : (
        <Badge tone="warn" title={cycle.warnings.join('\n')}>
          {cycle.warnings.length === 1 ? '1 warning' : `${cycle.warnings.length} warnings`}
        </Badge>
      )}
      {cycle.intents === 0 && cycle.warnings.length === 0 ? <span className="text-muted">–</span> : null}
    </span>
  )
}

const symbolsOf = (intents: readonly Intent[]): string => intents.map(({ symbol }) => symbol).join(', ')

/** The shown members of a stored cycle. */
interface Cycle {
  readonly id: string
  readonly ts: string
  readonly trigger: string
  readonly regime: string
  readonly killSwitchLevel: number
  readonly symbols: readonly string[]
  readonly intents: number
  readonly durationMs: number
  readonly warnings: readonly string[]
}

const cycleOf = ({ ts, payload }: EventItem): Cycle => ({
  id: textOf(payload['cycle_id']),
  ts,
  trigger: textOf(payload['trigger']),
  regime: textOf(payload['regime']),
  killSwitchLevel: Number(payload['kill_switch_level'] ?? 0),
  symbols: textsOf(payload['symbols']),
  intents: Number(payload['intents'] ?? 0),
  durationMs: Number(payload['duration_ms'] ?? 0),
  warnings: textsOf(payload['warnings']),
})
