import type { LogRecord } from '../core/log/event.ts'
import type { EventLog, LogQuery } from '../ports/event-log.ts'

/** Reads all events of a query in its order, `limit` events at a time. */
export async function* readPages(
  log: Pick<EventLog, 'read'>,
  query: LogQuery,
): AsyncGenerator<readonly LogRecord[]> {
  let bounds: Pick<LogQuery, 'after' | 'before'> = {}
  for (;;) {
    const page = await log.read({ ...query, ...bounds })
    if (page.length > 0) yield page
    const last = page.at(-1)
    if (last === undefined || page.length < query.limit) return
    bounds = query.order === 'asc' ? { after: last.seq } : { before: last.seq }
  }
}
