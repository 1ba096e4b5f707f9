import { ArrowUp, Download } from 'lucide-react'
import { useRef, useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { useEventPages } from '../../api/queries.ts'
import type { EventFilter, EventItem, EventRecord } from '../../api/types.ts'
import { summaryOf, symbolOf } from '../../app/event-summary.ts'
import { FilterForm, ListEnd, UrlField, UrlTimeField, useRemainingPx } from '../../app/filter-form.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { useRecentEvents } from '../../live/live.ts'
import { Button } from '../../ui/button.tsx'
import { OptionList } from '../../ui/field.tsx'
import { formatCount } from '../../ui/format.ts'
import { LiveList } from '../../ui/live-list.tsx'
import { DataAge, Panel, QueryContent } from '../../ui/panel.tsx'
import { Empty, titleOf } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { EventSheet } from './event-sheet.tsx'
import { VerifyPanel } from './verify-panel.tsx'

/** Event explorer and chain verification. */
export const Page = () => {
  const [event, setEvent] = useUrlState('event')
  return (
    <div className="grid gap-3">
      <VerifyPanel />
      <ExplorerPanel />
      {event === '' ? null : <EventSheet id={event} onClose={() => setEvent('')} />}
    </div>
  )
}

/** Limit of the count of newer events. */
const NEWER_MAX = 1000

/** Events that match the filter, newest first. */
const ExplorerPanel = ({ className = '' }: { readonly className?: string }) => {
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
  const heightPx = useRemainingPx(365)
  const { records, hasNextPage, refetch } = query
  const streamed = useRecentEvents((event) => passes(event, filter), { limit: NEWER_MAX })
  const newer = streamed.filter(({ seq }) => seq > (records[0]?.seq ?? 0)).length
  return (
    <QueryContent query={query} what="events">
      {() => (
        <>
          <NewerBar count={newer} onShow={() => void refetch()} />
          {records.length === 0 && !hasNextPage ? (
            <Empty title="No matching events">
              Types match by whole segments (signal.ta, not signal.t); authors match exactly. Clear a filter
              to see more.
            </Empty>
          ) : (
            <LiveList
              label="List of events"
              items={records}
              itemKey={({ id }) => id}
              rowPx={34}
              phoneRowPx={56}
              heightPx={heightPx}
              render={(record) => <EventRow record={record} />}
              onOpen={({ id }) => setEvent(id)}
            />
          )}
          <ListEnd count={records.length} noun="event" query={query} />
        </>
      )}
    </QueryContent>
  )
}

/** Age of the list, which does not move while it is read. */
const PagesAge = ({ filter }: { readonly filter: AuditFilter }) => (
  <DataAge query={useEventPages(queryOfFilter(filter))} isLiveUpdated={false} />
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

/**
 * True if an event matches the filter, as far as the stream shows. Only the service knows which ids an event refers to.
 */
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

interface AuditFilter {
  readonly type: string
  readonly symbol: string
  readonly author: string
  readonly about: string
  readonly from: string
  readonly to: string
}

/** The filter. It is part of the address, so that it can be shared. */
const useAuditFilter = (): AuditFilter => {
  const [type] = useUrlState('type')
  const [symbol] = useUrlState('symbol')
  const [author] = useUrlState('author')
  const [about] = useUrlState('about')
  const [from] = useUrlState('from')
  const [to] = useUrlState('to')
  return { type, symbol, author, about, from, to }
}

const queryOfFilter = ({ type, symbol, author, about, from, to }: AuditFilter): EventFilter => ({
  ...(type === '' ? {} : { type: type.replace(/\.$/, '') }),
  ...(symbol === '' ? {} : { symbol }),
  ...(author === '' ? {} : { source: author }),
  ...(about === '' ? {} : { about }),
  ...(isTimestamp(from) ? { from } : {}),
  ...(isTimestamp(to) ? { to } : {}),
})

const isTimestamp = (text: string): boolean => !Number.isNaN(Date.parse(text))

const TYPES = [
  'alert',
  'attribution',
  'brain.conviction',
  'brain.cycle',
  'brain.regime_change',
  'contributor',
  'execution',
  'execution.order_filled',
  'execution.position_closed',
  'execution.position_opened',
  'execution.trade_intent',
  'karma',
  'learning',
  'market.bar',
  'producer.run',
  'signal',
  'signal.curator',
  'signal.ta',
  'system',
  'system.audit',
  'system.config_changed',
  'system.kill_switch',
  'system.started',
] as const

const FilterBar = () => {
  const count = Object.values(useAuditFilter()).filter((value) => value !== '').length
  return (
    <FilterForm
      label="Events"
      path="/audit"
      count={count}
      className="sm:grid-cols-3 xl:grid-cols-[1.4fr_0.7fr_1fr_1.4fr_1.1fr_1.1fr_auto]"
    >
      <UrlField name="type" label="Type" placeholder="signal.ta" list="audit-types" />
      <UrlField name="symbol" label="Symbol" placeholder="BTC" />
      <UrlField name="author" label="Author" placeholder="exactly, e.g. brain" />
      <UrlField name="about" label="Trace or id" placeholder="trace:… or any id" />
      <UrlTimeField name="from" label="From (your time)" />
      <UrlTimeField name="to" label="To (your time)" />
      <datalist id="audit-types">
        <OptionList options={TYPES} />
      </datalist>
    </FilterForm>
  )
}

/** Maximum number of events that a browser exports. The command line has no such limit. */
const EXPORTED_MAX = 100_000

/** Exports matching events as JSON Lines, oldest first: the form that `svc integrity --file` verifies. */
const ExportButton = ({ filter }: { readonly filter: EventFilter }) => {
  const [count, setCount] = useState<number | null>(null)
  const controller = useRef<AbortController | null>(null)
  const run = async (): Promise<void> => {
    controller.current = new AbortController()
    setCount(0)
    try {
      const { lines, isCut } = await collect(filter, controller.current.signal, setCount)
      save(lines)
      toast(doneText(lines.length, isCut), isCut ? 'warn' : 'good')
    } catch (error) {
      if (controller.current.signal.aborted) toast('Export stopped')
      else toast(titleOf(error), 'bad')
    } finally {
      setCount(null)
    }
  }
  if (count !== null) {
    return (
      <Button size="small" onClick={() => controller.current?.abort()}>
        {formatCount(count)} read · Stop
      </Button>
    )
  }
  return (
    <Button
      size="small"
      onClick={() => void run()}
      title="Matching events as JSON Lines. An export of all events can be verified with svc integrity --file."
    >
      <Download className="size-3.5" aria-hidden /> Export
    </Button>
  )
}

const collect = async (
  filter: EventFilter,
  signal: AbortSignal,
  onCount: (count: number) => void,
): Promise<{ readonly lines: readonly string[]; readonly isCut: boolean }> => {
  const lines: string[] = []
  let after = {}
  for (;;) {
    const query = { ...filter, order: 'asc', limit: 500, ...after } as const
    // Events are kept as the service sends them, because an export is verified byte by byte.
    const { items, next_seq } = await dataOf(api.GET('/events', { params: { query }, signal }))
    for (const event of items) lines.push(`${JSON.stringify(event)}\n`)
    onCount(lines.length)
    if (lines.length >= EXPORTED_MAX) return { lines: lines.slice(0, EXPORTED_MAX), isCut: true }
    if (next_seq === null) return { lines, isCut: false }
    after = { after_seq: next_seq }
  }
}

const doneText = (count: number, isCut: boolean): string =>
  isCut
    ? `Only the oldest ${formatCount(count)} events: use svc export events for more`
    : `${formatCount(count)} ${count === 1 ? 'event' : 'events'} exported`

const save = (lines: readonly string[]): void => {
  const url = URL.createObjectURL(new Blob([...lines], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `events-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.jsonl`
  link.click()
  // Delayed, because the browser may not have opened the URL yet.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
