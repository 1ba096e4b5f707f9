import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { LiveList } from '../../ui/live-list.tsx'
import { QueryContent } from '../../ui/panel.tsx'
import { RunRow } from './run-row.tsx'
import { isRun, runOf } from './runs.ts'

const RUNS_MAX = 100

export const ProducerRuns = ({ name }: { readonly name: string }) => {
  const query = useQuery(queries.events({ type: 'producer.run', source: name, limit: RUNS_MAX }))
  const events = useRecentEvents((event) => isRun(event) && event.payload['name'] === name, {
    older: query.data?.items,
    limit: RUNS_MAX,
  })
  return (
    <QueryContent query={query} what="the runs">
      {() =>
        events.length === 0 ? (
          <p className="text-sm text-muted">No run yet. Its first is due on its schedule.</p>
        ) : (
          <div className="overflow-hidden rounded-md border border-line">
            <LiveList
              label="Newest runs"
              items={events.map(runOf)}
              itemKey={({ id }) => id}
              rowPx={34}
              heightPx={238}
              render={(run) => <RunRow run={run} withName={false} />}
            />
          </div>
        )
      }
    </QueryContent>
  )
}
