import { Link } from '@tanstack/react-router'
import { Pause, Play } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { useEventPages } from '../../api/event-pages.ts'
import type { EventItem } from '../../api/log.ts'
import type { EventFilter } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { useRecentEvents } from '../../live/use-live.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { LiveList } from '../../ui/live-list.tsx'
import { DataAge, Panel, QueryContent } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { useRoomPx } from '../audit/use-room.ts'
import { FilterBar, passes, useSignalFilter, type SignalFilter } from './filters.tsx'
import { SignalHead, SignalRow } from './signal-row.tsx'

/** Beyond it the audit is the better place to look. */
const SHOWN_MAX = 2000

/** Who says what, as it is said. */
export const FeedPanel = ({ actions }: { readonly actions: ReactNode }) => {
  const filter = useSignalFilter()
  return (
    <div className="grid gap-3">
      {/* Outside of what begins anew with every filter: somebody may still be typing. */}
      <div className="rounded-lg border border-b-0 border-line bg-panel">
        <FilterBar />
      </div>
      <Feed key={JSON.stringify(filter)} filter={filter} actions={actions} />
    </div>
  )
}

const Feed = ({ filter, actions }: { readonly filter: SignalFilter; readonly actions: ReactNode }) => {
  const [, setSignal] = useUrlState('signal')
  const query = useEventPages(queryOf(filter))
  const all = useRecentEvents((event) => passes(event, filter), { older: query.records, limit: SHOWN_MAX })
  const [held, setHeld] = useState<readonly EventItem[] | null>(null)
  const shown = held ?? all
  const heightPx = useRoomPx(275)
  const newer = held === null ? 0 : all.findIndex(({ id }) => id === held[0]?.id)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  return (
    <Panel
      title="Signal feed"
      flush
      actions={
        <>
          <DataAge query={query} />
          <HoldButton
            isHeld={held !== null}
            newer={Math.max(0, newer)}
            onToggle={() => setHeld(held === null ? all : null)}
          />
          {actions}
        </>
      }
    >
      <QueryContent query={query} what="signals">
        {() => (
          <>
            {shown.length === 0 && !hasNextPage ? (
              <NoSignals isFiltered={Object.values(filter).some((value) => value !== '')} />
            ) : (
              <>
                <SignalHead />
                <LiveList
                  label="Signals"
                  items={shown}
                  itemKey={({ id }) => id}
                  rowPx={38}
                  phoneRowPx={56}
                  heightPx={heightPx}
                  render={(signal) => <SignalRow signal={signal} />}
                  onOpen={({ id }) => setSignal(id)}
                />
              </>
            )}
            <footer className="flex min-h-9 flex-wrap items-center justify-between gap-2 border-t border-line px-3 py-1 text-xs text-muted">
              <span>
                {formatCount(shown.length)} {shown.length === 1 ? 'signal' : 'signals'}
                {hasNextPage ? '' : ', all there are'}
              </span>
              {hasNextPage && shown.length < SHOWN_MAX ? (
                <Button
                  size="small"
                  busy={isFetchingNextPage}
                  disabled={held !== null}
                  onClick={() => void fetchNextPage()}
                >
                  Older signals
                </Button>
              ) : null}
            </footer>
          </>
        )}
      </QueryContent>
    </Panel>
  )
}

const queryOf = ({ domain, symbol, author }: SignalFilter): EventFilter => ({
  type: domain === '' ? 'signal' : `signal.${domain}`,
  ...(symbol === '' ? {} : { symbol }),
  ...(author === '' ? {} : { source: author }),
})

interface HoldButtonProps {
  readonly isHeld: boolean
  readonly newer: number
  readonly onToggle: () => void
}

/** A feed that moves cannot be read: it waits while somebody does. */
const HoldButton = ({ isHeld, newer, onToggle }: HoldButtonProps) => (
  <Button size="small" aria-pressed={isHeld} onClick={onToggle}>
    {isHeld ? <Play className="size-3.5" aria-hidden /> : <Pause className="size-3.5" aria-hidden />}
    {isHeld ? `Go on${newer === 0 ? '' : ` · ${formatCount(newer)} new`}` : 'Hold'}
  </Button>
)

const NoSignals = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No signal passes the filter">
      Authors match exactly, domains by their name in the type. Clear a filter to see more.
    </Empty>
  ) : (
    <Empty title="No signals yet">
      Producers write them on their schedules once a market feed runs (
      <Link to="/settings" search={{ section: 'market' } as never} className="text-accent underline">
        market settings
      </Link>
      ); contributors submit theirs here or over the API.
    </Empty>
  )
