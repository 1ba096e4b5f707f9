import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import type { Intent } from '../../api/trading.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { formatDuration } from '../../ui/format.ts'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Table, type Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useCycles, type Cycle } from './cycles.ts'
import { refusalReason, toneOfRegime } from './words.ts'

const SHOWN_MAX = 50

/** Every cycle, what it wanted, and what was refused and why. */
export const CyclesPanel = ({ className = '' }: { readonly className?: string }) => {
  const { query, cycles } = useCycles()
  const { data: intents = [] } = useQuery(queries.intents('all', 500))
  const [, open] = useUrlState('cycle')
  return (
    <QueryPanel title="Cycle log" flush className={className} query={query}>
      {() =>
        cycles.length === 0 ? (
          <Empty title="No cycle yet">
            Cycles run on schedule (brain.cycle_interval_seconds) and by hand, not while the kill switch is
            up.
          </Empty>
        ) : (
          <div className="max-h-[26rem] overflow-y-auto">
            <Table
              label="Cycles"
              columns={columnsFor(Map.groupBy(intents, ({ cycle_id }) => cycle_id))}
              rows={cycles}
              rowKey={({ id }) => id}
              onOpen={({ id }) => open(id)}
              limit={SHOWN_MAX}
            />
          </div>
        )
      }
    </QueryPanel>
  )
}

type ByCycle = ReadonlyMap<string, readonly Intent[]>

const columnsFor = (byCycle: ByCycle): readonly Column<Cycle>[] => [
  { name: 'Time', render: ({ ts }) => <Time at={ts} /> },
  { name: 'By', wide: true, render: ({ trigger }) => trigger },
  {
    name: 'Regime',
    render: ({ regime }) => <Badge tone={toneOfRegime(regime)}>{regime}</Badge>,
  },
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
  { name: 'Judged', align: 'right', wide: true, render: ({ symbols }) => symbols.length },
  { name: 'Intents', align: 'right', render: ({ intents }) => intents },
  {
    name: 'What became of them',
    render: (cycle) => <Outcome cycle={cycle} intents={byCycle.get(cycle.id) ?? []} />,
  },
  { name: 'Took', align: 'right', wide: true, render: ({ durationMs }) => formatDuration(durationMs) },
]

const Outcome = ({ cycle, intents }: { readonly cycle: Cycle; readonly intents: readonly Intent[] }) => {
  const filled = intents.filter(({ status }) => status === 'filled')
  const refused = intents.filter(({ status }) => status === 'rejected' || status === 'expired')
  const underWay = intents.length - filled.length - refused.length
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {filled.length === 0 ? null : <Badge tone="good">{symbolsOf(filled)} filled</Badge>}
      {underWay === 0 ? null : <Badge tone="accent">{underWay} under way</Badge>}
      {refused.map((intent) => (
        <Badge key={intent.intent_id} tone="bad" title={intent.reasons.map(refusalReason).join('; ')}>
          <span>
            {intent.symbol} {intent.status === 'expired' ? 'expired' : 'refused'}
            <span className="font-normal max-md:hidden">
              {intent.reasons[0] === undefined ? '' : `: ${refusalReason(intent.reasons[0])}`}
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
