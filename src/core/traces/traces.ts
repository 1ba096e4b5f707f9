import { Map as PersistentMap } from 'immutable'
import type { KnownEvent } from '../events/catalogue.ts'
import { accept, refuse, type Decision } from '../vocabulary/decision.ts'

export interface TraceSession {
  readonly id: string
  readonly label: string
  readonly agent: string | null
  readonly createdAt: string
  readonly lastAccessedAt: string
  readonly closedAt: string | null
  /** Its own id first: requests that carry it belong to the session. */
  readonly traceIds: readonly string[]
}

export interface Traces {
  readonly sessions: PersistentMap<string, TraceSession>
  /** Which open session a trace id belongs to, so that its events count as access. */
  readonly sessionOfTrace: PersistentMap<string, string>
}

export const INITIAL_TRACES: Traces = { sessions: PersistentMap(), sessionOfTrace: PersistentMap() }

export const TRACE_IDS_MAX = 1000

export type SessionStatus = 'open' | 'closed' | 'expired'

export const statusOf = (session: TraceSession, now: string, ttlHours: number): SessionStatus => {
  if (session.closedAt !== null) return 'closed'
  return Date.parse(now) - Date.parse(session.lastAccessedAt) > ttlHours * 3_600_000 ? 'expired' : 'open'
}

export const openSession = (label: string, agent: string | null, sessionId: string): Decision =>
  accept({
    type: 'trace.session_opened.v1',
    source: 'api',
    traceId: sessionId,
    payload: { session_id: sessionId, label, agent },
  })

export const appendTrace = (
  { sessions }: Traces,
  sessionId: string,
  traceId: string,
  { now, ttlHours }: { readonly now: string; readonly ttlHours: number },
): Decision => {
  const session = sessions.get(sessionId)
  if (session === undefined) return notFound(sessionId)
  const status = statusOf(session, now, ttlHours)
  if (status !== 'open') {
    return refuse('trace.session_closed', `trace session ${sessionId} is ${status}`, {
      session_id: sessionId,
      session_status: status,
    })
  }
  if (session.traceIds.includes(traceId)) return accept()
  if (session.traceIds.length >= TRACE_IDS_MAX) {
    return refuse('trace.session_full', `a trace session holds at most ${TRACE_IDS_MAX} trace ids`, {
      session_id: sessionId,
    })
  }
  return accept({
    type: 'trace.session_appended.v1',
    source: 'api',
    payload: { session_id: sessionId, trace_id: traceId },
  })
}

/** Closing twice is closing once. */
export const closeSession = ({ sessions }: Traces, sessionId: string): Decision => {
  const session = sessions.get(sessionId)
  if (session === undefined) return notFound(sessionId)
  if (session.closedAt !== null) return accept()
  return accept({ type: 'trace.session_closed.v1', source: 'api', payload: { session_id: sessionId } })
}

export const evolveTraces = (traces: Traces, event: KnownEvent): Traces => {
  switch (event.type) {
    case 'trace.session_opened.v1': {
      const { session_id: id, label, agent } = event.payload
      const session = {
        id,
        label,
        agent,
        createdAt: event.ts,
        lastAccessedAt: event.ts,
        closedAt: null,
        traceIds: [id],
      }
      return { sessions: traces.sessions.set(id, session), sessionOfTrace: traces.sessionOfTrace.set(id, id) }
    }
    case 'trace.session_appended.v1': {
      const { session_id: id, trace_id: traceId } = event.payload
      return {
        sessions: traces.sessions.update(
          id,
          (session) =>
            session && { ...session, lastAccessedAt: event.ts, traceIds: [...session.traceIds, traceId] },
        ),
        sessionOfTrace: traces.sessionOfTrace.set(traceId, id),
      }
    }
    case 'trace.session_closed.v1': {
      const session = traces.sessions.get(event.payload.session_id)
      if (session === undefined) return traces
      return {
        sessions: traces.sessions.set(session.id, { ...session, closedAt: event.ts }),
        sessionOfTrace: traces.sessionOfTrace.deleteAll(session.traceIds),
      }
    }
    default:
      return accessed(traces, event)
  }
}

const accessed = (traces: Traces, { traceId, recordedAt }: KnownEvent): Traces => {
  const sessionId = traceId === null ? undefined : traces.sessionOfTrace.get(traceId)
  if (sessionId === undefined) return traces
  return {
    ...traces,
    sessions: traces.sessions.update(
      sessionId,
      (session) => session && { ...session, lastAccessedAt: recordedAt },
    ),
  }
}

const notFound = (sessionId: string): Decision =>
  refuse('trace.session_not_found', `no trace session has id ${sessionId}`, { session_id: sessionId })
