import { ArrowUp } from 'lucide-react'
import { useState } from 'react'
import { useEventPages } from '../../api/event-pages.ts'
import type { EventItem, EventRecord } from '../../api/log.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useEvents } from '../../live/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { LiveList } from '../../ui/live-list.tsx'
import { DataAge, Panel, QueryContent } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { ExportButton } from './export-button.tsx'
import { FilterBar, queryOfFilter, useAuditFilter, type AuditFilter } from './filters.tsx'
import { summaryOf, symbolOf } from './summary.ts'
import { useRoomPx } from './use-room.ts'

/** Every event of the log, newest first, as far as it passes the filter. */
export const ExplorerPanel = ({ className = '' }: { readonly className?: string }) => {
  const filter = useAuditFilter()
  return (
    <Panel
      title="Events"
      flush
      className={className}
      actions={
        <>
          <PagesAge filter={filter} />
          <ExportButton filter={queryOfFilter(filter)} />
        </>
      }
    >
      <FilterBar />
      <Found key={JSON.stringify(filter)} filter={filter} />
    </Panel>
  )
}

const Found = ({ filter }: { readonly filter: AuditFilter }) => {
  const query = useEventPages(queryOfFilter(filter))
  const [, setEvent] = useUrlState('event')
  const [newer, setNewer] = useState(0)
  const heightPx = useRoomPx(365)
  useEvents((events) => setNewer((count) => count + events.filter((event) => passes(event, filter)).length))
  const { records, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = query
  const showNewer = (): void => {
    setNewer(0)
    void refetch()
  }
  return (
    <QueryContent query={query} what="events">
      {() => (
        <>
          <NewerBar count={newer} onShow={showNewer} />
          {records.length === 0 && !hasNextPage ? (
            <Empty title="No event passes the filter">
              Types match by whole segments (signal.ta, not signal.t); authors match exactly. Clear a filter
              to see more.
            </Empty>
          ) : (
            <LiveList
              label="Events"
              items={records}
              itemKey={({ id }) => id}
              rowPx={34}
              phoneRowPx={56}
              heightPx={heightPx}
              render={(record) => <EventRow record={record} />}
              onOpen={({ id }) => setEvent(id)}
            />
          )}
          <footer className="flex flex-wrap items-center justify-between gap-2 border-t border-line px-3 py-2 text-xs text-muted">
            <span>
              {formatCount(records.length)} {records.length === 1 ? 'event' : 'events'}
              {hasNextPage ? '' : ', all there are'}
            </span>
            {hasNextPage ? (
              <Button size="small" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Older events
              </Button>
            ) : null}
          </footer>
        </>
      )}
    </QueryContent>
  )
}

/** What is read stays where it is; how old it is, is told. */
const PagesAge = ({ filter }: { readonly filter: AuditFilter }) => (
  <DataAge query={useEventPages(queryOfFilter(filter))} isFollowed={false} />
)

const NewerBar = ({ count, onShow }: { readonly count: number; readonly onShow: () => void }) =>
  count === 0 ? null : (
    <button
      type="button"
      onClick={onShow}
      className="flex w-full items-center justify-center gap-1.5 border-b border-line bg-accent-soft py-1 text-xs font-medium text-accent"
    >
      <ArrowUp className="size-3.5" aria-hidden />
      {count === 1 ? 'Show 1 newer event' : `Show ${formatCount(count)} newer events`}
    </button>
  )

/** As far as the stream tells. What an event names is only known to the service. */
const passes = (event: EventItem, { type, symbol, author, about, to }: AuditFilter): boolean =>
  about === '' &&
  to === '' &&
  (type === '' || event.type === type || event.type.startsWith(`${type.replace(/\.$/, '')}.`)) &&
  (symbol === '' || symbolOf(event)?.toUpperCase() === symbol.trim().toUpperCase()) &&
  (author === '' || event.source === author)

const EventRow = ({ record }: { readonly record: EventRecord }) => (
  <span className="grid h-full grid-cols-[4.5rem_5.5rem_minmax(0,16rem)_4rem_minmax(0,9rem)_minmax(0,1fr)] items-center gap-3 px-3 text-[13px] max-lg:grid-cols-[4.5rem_minmax(0,1fr)_4rem_auto] max-sm:grid-cols-[minmax(0,1fr)_3.5rem_auto] max-sm:content-center max-sm:gap-y-0.5">
    <span className="text-right text-xs text-muted max-sm:hidden">{formatCount(record.seq)}</span>
    <span className="text-xs text-muted max-lg:order-1">
      <Time at={record.ts} />
    </span>
    <code className="truncate">{record.type}</code>
    <strong className="truncate font-medium">{symbolOf(record) ?? ''}</strong>
    <span className="min-w-0 text-muted max-lg:hidden">
      <Untrusted lines={1} text={record.source ?? '–'} />
    </span>
    <span className="min-w-0 text-xs text-muted max-lg:hidden max-sm:order-2 max-sm:col-span-full max-sm:block">
      <Untrusted lines={1} text={summaryOf(record)} />
    </span>
  </span>
)
