import { sessionId } from '../../core/shared/brand.ts'
import type { LogRecord } from '../../core/log/event.ts'
import { traceRef } from '../../core/log/refs.ts'
import {
  viewSessionDetail,
  type SessionContext,
  type TraceSessionDetailView,
} from '../../core/views/trace-sessions.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Reader } from './trading-records.ts'

export const SESSION_EVENTS_MAX = 1000

/** A session with the events of its trace ids; null if no session has this id. */
export const traceSessionOf = async (
  reader: Reader,
  id: string,
  context: SessionContext,
): Promise<TraceSessionDetailView | null> => {
  const session = (await reader.fresh()).signals.traces.sessions.get(sessionId(id))
  if (session === undefined) return null
  return viewSessionDetail(session, await eventsOf(reader.log, session.traceIds), context)
}

/** A session may have many trace ids, so they are read in groups. */
const TRACES_AT_ONCE = 16

const eventsOf = async (log: EventLog, traceIds: readonly string[]): Promise<readonly LogRecord[]> => {
  let events: readonly LogRecord[] = []
  for (let index = 0; index < traceIds.length; index += TRACES_AT_ONCE) {
    const pages = await Promise.all(
      traceIds
        .slice(index, index + TRACES_AT_ONCE)
        .map((traceId) => log.read({ about: traceRef(traceId), order: 'asc', limit: SESSION_EVENTS_MAX })),
    )
    // Cut after each group, so that a session with long traces uses little memory.
    events = [...events, ...pages.flat()]
      .sort((one, other) => one.seq - other.seq)
      .slice(0, SESSION_EVENTS_MAX)
  }
  return events
}
