import { Pause, Play, Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useEventPages } from '../../api/queries.ts'
import type { EventFilter, EventItem } from '../../api/types.ts'
import { directionOf, strengthOf, summaryOf, symbolOf } from '../../app/event-summary.ts'
import { FilterForm, ListEnd, UrlField, useRemainingPx } from '../../app/filter-form.tsx'
import { PageLink } from '../../app/page-link.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { useRecentEvents } from '../../live/live.ts'
import { DirectionBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { cx } from '../../ui/cx.ts'
import { OptionList } from '../../ui/field.tsx'
import { formatCount, formatNumber } from '../../ui/format.ts'
import { LiveList } from '../../ui/live-list.tsx'
import { DataAge, Panel, QueryContent } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Untrusted } from '../../ui/untrusted.tsx'
import { SignalSheet } from './signal-sheet.tsx'
import { SubmitDialog } from './submit-dialog.tsx'

/** Signals as they arrive, with attribution and proof. */
export const Page = () => {
  const [signal, setSignal] = useUrlState('signal')
  const [isSubmitting, setIsSubmitting] = useState(false)
  return (
    <>
      <FeedPanel
        actions={
          <Button size="small" look="primary" onClick={() => setIsSubmitting(true)}>
            <Plus className="size-3.5" aria-hidden /> Submit a signal
          </Button>
        }
      />
      {signal === '' ? null : <SignalSheet key={signal} id={signal} onClose={() => setSignal('')} />}
      {isSubmitting ? (
        <SubmitDialog
          onClose={() => setIsSubmitting(false)}
          onDone={(id) => {
            setIsSubmitting(false)
            setSignal(id)
          }}
        />
      ) : null}
    </>
  )
}

/** For more there is the audit page. */
const SHOWN_MAX = 2000

const FeedPanel = ({ actions }: { readonly actions: ReactNode }) => {
  const filter = useSignalFilter()
  const key = JSON.stringify(filter)
  const [, setSignal] = useUrlState('signal')
  const query = useEventPages(queryOf(filter))
  const all = useRecentEvents((event) => passes(event, filter), { older: query.records, limit: SHOWN_MAX })
  const [held, setHeld] = useState<{ readonly key: string; readonly events: readonly EventItem[] } | null>(
    null,
  )
  // Another filter resumes the feed.
  const paused = held?.key === key ? held.events : null
  const shown = paused ?? all
  const heightPx = useRemainingPx(278)
  const newer = paused === null ? 0 : all.findIndex(({ id }) => id === paused[0]?.id)
  const { hasNextPage } = query
  return (
    <Panel
      title="Signal feed"
      flush
      actions={
        <>
          <DataAge query={query} />
          <PauseButton
            isPaused={paused !== null}
            newer={Math.max(0, newer)}
            onToggle={() => setHeld(paused === null ? { key, events: all } : null)}
          />
          {actions}
        </>
      }
    >
      <FilterBar />
      <QueryContent query={query} what="signals">
        {() => (
          <>
            {shown.length === 0 && !hasNextPage ? (
              <NoSignals isFiltered={Object.values(filter).some((value) => value !== '')} />
            ) : (
              <>
                <SignalHead />
                <LiveList
                  key={key}
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
            <ListEnd
              count={shown.length}
              noun="signal"
              query={query}
              isFull={shown.length >= SHOWN_MAX || paused !== null}
            />
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
  readonly isPaused: boolean
  readonly newer: number
  readonly onToggle: () => void
}

/** Stops the feed while the user reads. */
const PauseButton = ({ isPaused, newer, onToggle }: HoldButtonProps) => (
  <Button size="small" aria-pressed={isPaused} onClick={onToggle}>
    {isPaused ? <Play className="size-3.5" aria-hidden /> : <Pause className="size-3.5" aria-hidden />}
    {isPaused ? `Resume${newer === 0 ? '' : ` · ${formatCount(newer)} new`}` : 'Pause'}
  </Button>
)

const NoSignals = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching signals">
      Authors match exactly, domains by their name in the type. Clear a filter to see more.
    </Empty>
  ) : (
    <Empty title="No signals yet">
      Producers write them on their schedules once a market feed runs (
      <PageLink to="/settings" search={{ section: 'market' }}>
        market settings
      </PageLink>
      ); contributors submit theirs here or over the API.
    </Empty>
  )

interface SignalFilter {
  /** Second segment of the type. */
  readonly domain: string
  readonly symbol: string
  readonly author: string
}

const useSignalFilter = (): SignalFilter => {
  const [domain] = useUrlState('domain')
  const [symbol] = useUrlState('symbol')
  const [author] = useUrlState('author')
  return { domain, symbol, author }
}

const passes = (event: EventItem, { domain, symbol, author }: SignalFilter): boolean => {
  const [category, second] = event.type.split('.')
  return (
    category === 'signal' &&
    (domain === '' || second === domain) &&
    (symbol === '' || symbolOf(event)?.toUpperCase() === symbol.trim().toUpperCase()) &&
    (author === '' || event.source === author)
  )
}

const DOMAINS = [
  'aci',
  'curator',
  'etf',
  'events',
  'onchain',
  'orderbook',
  'price_alert',
  'price_ws',
  'sentiment',
  'social',
  'stablecoin',
  'ta',
  'tradfi',
  'whale',
] as const

const FilterBar = () => {
  const count = Object.values(useSignalFilter()).filter((value) => value !== '').length
  return (
    <FilterForm label="Signals" path="/signals" count={count} className="sm:grid-cols-[1fr_1fr_1.5fr_auto]">
      <UrlField name="domain" label="Domain" placeholder="ta, onchain, curator …" list="signal-domains" />
      <UrlField name="symbol" label="Symbol" placeholder="BTC" />
      <UrlField name="author" label="Author" placeholder="a producer or contributor, exactly" />
      <datalist id="signal-domains">
        <OptionList options={DOMAINS} />
      </datalist>
    </FilterForm>
  )
}

const GRID =
  'grid grid-cols-[6rem_4.5rem_6rem_minmax(0,11rem)_5rem_4rem_minmax(0,1fr)] items-center gap-3 px-3 max-lg:grid-cols-[4rem_5rem_minmax(0,1fr)_5rem_5.5rem] max-sm:grid-cols-[3.2rem_minmax(0,1fr)_auto_auto] max-sm:content-center max-sm:gap-x-2 max-sm:gap-y-0.5'

/** Hidden from screen readers: they read the values of each signal. */
const SignalHead = () => (
  <div
    aria-hidden
    className={cx(GRID, 'h-7 border-b border-line text-xs font-medium text-muted max-lg:hidden')}
  >
    <span>Time</span>
    <span>Symbol</span>
    <span>Domain</span>
    <span>Author</span>
    <span>Direction</span>
    <span className="text-right">Strength</span>
    <span>Content</span>
  </div>
)

const SignalRow = ({ signal }: { readonly signal: EventItem }) => {
  const direction = directionOf(signal)
  const strength = strengthOf(signal)
  return (
    <span className={cx(GRID, 'h-full text-[13px]')}>
      <span className="text-xs text-muted max-lg:order-1 max-lg:text-right">
        <Time at={signal.ts} />
      </span>
      <strong className="truncate font-medium">{symbolOf(signal) ?? '–'}</strong>
      <code className="truncate text-xs text-muted max-sm:hidden">{signal.type.split('.')[1]}</code>
      <Untrusted lines={1} text={signal.source ?? '–'} />
      <span>{direction === null ? null : <DirectionBadge direction={direction} />}</span>
      <span className="text-right max-lg:hidden">{strength === null ? '' : formatNumber(strength)}</span>
      <span className="min-w-0 text-xs text-muted max-lg:hidden max-sm:order-2 max-sm:col-span-full max-sm:block">
        <Untrusted lines={1} text={summaryOf(signal)} />
      </span>
    </span>
  )
}
