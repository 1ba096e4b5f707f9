import { useQuery } from '@tanstack/react-query'
import { queries } from '../api/queries.ts'
import { Untrusted } from '../ui/untrusted.tsx'
import { cx } from '../ui/cx.ts'
import { PageLink } from './page-link.tsx'

/** The name of a practice account ends like this; its money is not real. */
const PRACTICE = /-sandbox$/

/** On every page while orders go to a venue: where to, and what holds them back. With real money in a frame. */
export const LiveFrame = () => {
  const { data: live, isError } = useQuery(queries.live())
  if (live === undefined) return isError ? <UnknownMode /> : null
  if (live.mode === 'paper') return null
  const venue = live.venue ?? 'no venue'
  const isPractice = PRACTICE.test(venue)
  const blockers = live.held_back_by.length
  return (
    <>
      {isPractice ? null : (
        <div aria-hidden className="pointer-events-none fixed inset-0 z-[60] border-[3px] border-bad" />
      )}
      <section
        aria-label="Live trading mode"
        className={cx(
          'flex items-center gap-x-3 px-3 py-1 text-[13px] md:px-4',
          isPractice ? 'bg-raised' : 'bg-bad text-panel',
        )}
      >
        <strong className="shrink-0 tracking-wide">{isPractice ? 'PRACTICE' : 'LIVE'}</strong>
        <span className="min-w-0">
          <Untrusted lines={1} text={isPractice ? venue : `real money at ${venue}`} />
        </span>
        <span className="ml-auto shrink-0">
          <PageLink to="/risk" className={isPractice ? '' : 'text-panel!'}>
            {live.reduce_only !== null
              ? 'reduce only'
              : blockers === 0
                ? 'sends orders'
                : blockers === 1
                  ? 'held back by 1'
                  : `held back by ${blockers}`}
          </PageLink>
        </span>
      </section>
    </>
  )
}

/** Without a frame a page looks like paper: that must not be left open. */
const UnknownMode = () => (
  <section aria-label="Live trading mode" className="bg-warn-soft px-3 py-1 text-[13px] text-warn md:px-4">
    Could not read the mode: the money may be real.
  </section>
)
