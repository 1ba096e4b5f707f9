import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { toServerTime } from '../api/server-clock.ts'
import { useConnectionStatus } from '../live/live.ts'
import { cx } from './cx.ts'
import { formatDuration } from './format.ts'
import { Failure, Loading } from './states.tsx'
import { useNow } from './time.tsx'

interface PanelProps {
  readonly title: string
  /** Beside the title: counts, filters, buttons. */
  readonly actions?: ReactNode
  /** No padding: for tables and lists. */
  readonly flush?: boolean
  readonly className?: string | undefined
  readonly children: ReactNode
}

export const Panel = ({ title, actions, flush = false, className, children }: PanelProps) => {
  const id = useId()
  return (
    <section
      aria-labelledby={id}
      className={cx('flex min-w-0 flex-col rounded-lg border border-line bg-panel', className)}
    >
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
        <h2 id={id} className="text-sm font-semibold">
          {title}
        </h2>
        {actions === undefined ? null : (
          <div className="flex flex-wrap items-center gap-2 text-xs">{actions}</div>
        )}
      </header>
      <div className={cx('min-h-0 min-w-0 flex-1', !flush && 'p-3')}>{children}</div>
    </section>
  )
}

export interface QueryPanelProps<Data> extends Omit<PanelProps, 'children'> {
  readonly query: UseQueryResult<Data>
  readonly children: (data: Data) => ReactNode
}

/** A panel around one query: loading, failure and the age of its data are taken care of. */
export const QueryPanel = <Data,>({ query, children, actions, ...panel }: QueryPanelProps<Data>) => (
  <Panel
    {...panel}
    actions={
      <>
        {actions}
        <DataAge query={query} />
      </>
    }
  >
    <QueryContent query={query} what={panel.title.toLowerCase()}>
      {children}
    </QueryContent>
  </Panel>
)

interface QueryContentProps<Data> {
  readonly query: UseQueryResult<Data>
  readonly what: string
  readonly children: (data: Data) => ReactNode
}

/** Old data stays on the screen when a refresh fails; its age shows. */
export const QueryContent = <Data,>({ query, what, children }: QueryContentProps<Data>) => {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  return <Loading what={what} />
}

const FRESH_MS = 10_000

/** How old the data is, where events do not refresh it or do not arrive. Data that is current says nothing. */
export const DataAge = ({
  query,
  isLiveUpdated = true,
}: {
  readonly query: Pick<UseQueryResult, 'dataUpdatedAt' | 'isError'>
  readonly isLiveUpdated?: boolean
}) => {
  const isLive = useConnectionStatus() === 'live' && !query.isError
  const { dataUpdatedAt } = query
  const age = useNow((nowMs) => ageText(toServerTime(dataUpdatedAt), nowMs))
  if (dataUpdatedAt === 0) return null
  if (!isLive) {
    return (
      <span className="rounded bg-warn-soft px-1.5 py-0.5 text-warn">
        {age === '' ? 'stale' : `stale · ${age}`}
      </span>
    )
  }
  if (isLiveUpdated) return null
  return <span className="text-muted">{age === '' ? 'loaded now' : age}</span>
}

const ageText = (updatedAtMs: number, nowMs: number): string => {
  const ms = nowMs - updatedAtMs
  if (ms < FRESH_MS) return ''
  const coarse = ms < 60_000 ? Math.floor(ms / 10_000) * 10_000 : Math.floor(ms / 60_000) * 60_000
  return `${formatDuration(coarse)} old`
}

interface SectionProps {
  readonly title: string
  readonly hint?: string
  readonly children: ReactNode
}

/** A part of a sheet. */
export const Section = ({ title, hint, children }: SectionProps) => {
  const id = useId()
  return (
    <section aria-labelledby={id} className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h3 id={id} className="text-sm font-semibold">
          {title}
        </h3>
        {hint === undefined ? null : <p className="text-xs text-muted">{hint}</p>}
      </div>
      {children}
    </section>
  )
}
