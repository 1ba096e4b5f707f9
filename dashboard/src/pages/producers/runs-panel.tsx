import { useQuery } from '@tanstack/react-query'
import type { EventItem } from '../../api/log.ts'
import { queries } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Choice } from '../../ui/field.tsx'
import { LiveList } from '../../ui/live-list.tsx'
import { QueryPanel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { RunRow } from './run-row.tsx'
import { isRun, runOf } from './runs.ts'

const RUNS_MAX = 200

const KINDS = [
  ['all', 'All runs'],
  ['faulty', 'With errors or refusals'],
] as const

/** Of all producers, as they happen. */
export const RunsPanel = ({ className = '' }: { readonly className?: string }) => {
  const [kind, setKind] = useUrlState('runs', 'all')
  const query = useQuery(queries.events({ type: 'producer.run', limit: RUNS_MAX }))
  const events = useRecentEvents(isRun, { older: query.data?.items, limit: RUNS_MAX })
  const [, open] = useUrlState('producer')
  const runs = events.filter(kind === 'faulty' ? isFaulty : () => true).map(runOf)
  return (
    <QueryPanel
      title="Last runs"
      flush
      className={className}
      query={query}
      actions={<Choice label="Which runs" value={kind} choices={KINDS} onChoose={setKind} />}
    >
      {() =>
        runs.length === 0 ? (
          <Empty title={kind === 'all' ? 'No run yet' : 'No run failed'}>
            {kind === 'all'
              ? 'Producers run on their schedules, once the market feed gives them data.'
              : `Among the newest ${events.length} runs.`}
          </Empty>
        ) : (
          <LiveList
            label="Runs of all producers"
            items={runs}
            itemKey={({ id }) => id}
            rowPx={34}
            heightPx={374}
            render={(run) => <RunRow run={run} />}
            onOpen={({ name }) => open(name)}
          />
        )
      }
    </QueryPanel>
  )
}

const isFaulty = (event: EventItem): boolean => {
  const { error, rejected } = runOf(event)
  return error !== null || rejected.length > 0
}
