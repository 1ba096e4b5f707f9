import { useQuery } from '@tanstack/react-query'
import { queries } from '../api/queries.ts'
import { useConnectionStatus, useEventCount, useSilenceSeconds } from '../live/live.ts'
import { Badge, RegimeBadge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/cx.ts'
import { formatDuration } from '../ui/format.ts'

const STATUS_TEXTS = {
  connecting: 'Connecting',
  live: 'Live',
  silent: 'Nothing heard',
  reconnecting: 'Reconnecting',
  'signed-out': 'Signed out',
} as const

/** Shows whether the page receives updates of the service. */
export const ConnectionBadge = () => {
  const status = useConnectionStatus()
  const count = useEventCount()
  const silenceSeconds = useSilenceSeconds()
  const isUnheard = silenceSeconds !== null && status !== 'live' && status !== 'signed-out'
  return (
    <span
      role="status"
      aria-label="Connection"
      title={`${count} events since the page was loaded`}
      className={cx(
        'inline-flex items-center gap-1.5 text-xs whitespace-nowrap',
        status === 'live' ? 'text-muted' : 'text-warn',
      )}
    >
      <span
        className={cx('size-2 rounded-full', status === 'live' ? 'bg-good' : 'animate-pulse bg-warn')}
        aria-hidden
      />
      {isUnheard ? `Nothing heard for ${formatDuration(silenceSeconds * 1000)}` : STATUS_TEXTS[status]}
    </span>
  )
}

export const CurrentRegime = () => {
  const { data } = useQuery(queries.brainStatus())
  const regime = data?.regime ?? null
  if (regime === null) return <Badge title="The first cycle determines the market regime">No regime</Badge>
  return <RegimeBadge regime={regime} />
}

/** Banner above every page while no updates arrive. */
export const ConnectionBanner = () => {
  const status = useConnectionStatus()
  if (status === 'live' || status === 'connecting') return null
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center justify-center gap-3 bg-warn-soft px-4 py-2 text-sm text-warn"
    >
      {status === 'signed-out' ? (
        <>
          The session is over. This page shows the last known state.
          <Button size="small" onClick={signInAgain}>
            Sign in again
          </Button>
        </>
      ) : status === 'silent' ? (
        'The service is silent. This page shows the last known state.'
      ) : (
        'No connection to the service. This page shows the last known state and reconnects automatically.'
      )}
    </div>
  )
}

export const signOut = (): void => leaveFor('/')

/** Opens the sign-in page, which leads back to this page. */
const signInAgain = (): void => leaveFor(location.pathname + location.search)

/** Signs out with a form, so that the browser drops the cookie and loads the sign-in page. */
const leaveFor = (next: string): void => {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = `/logout?next=${encodeURIComponent(next)}`
  document.body.append(form)
  form.submit()
}
