import type { LogRecord } from '../../core/log/event.ts'
import type { EventLog } from '../../ports/event-log.ts'

export interface SignalQuery {
  /** The second segment of the type, exactly; empty or null = all. */
  readonly domain: string | null
  readonly limit: number
  readonly offset: number
}

export interface SignalPage {
  /** Newest `ts` first, then newest seq. */
  readonly records: readonly LogRecord[]
  /** All that match, not only those of this page. */
  readonly total: number
}

/** The log itself is asked, so what other processes wrote is there too. */
export const signalItems = async (
  { log }: { readonly log: EventLog },
  { domain, limit, offset }: SignalQuery,
): Promise<SignalPage> => {
  const hasDomain = domain !== null && domain !== ''
  // A segment holds no dot: such a domain is that of no signal.
  if (hasDomain && domain.includes('.')) return { records: [], total: 0 }
  const wanted = hasDomain ? `signal.${domain}` : null
  const [records, total] = await Promise.all([
    log.readByTime({ domain: wanted, limit, offset }),
    log.count(wanted ?? 'signal'),
  ])
  return { records, total }
}
