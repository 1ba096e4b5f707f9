import type { SessionId, Timestamp } from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent } from '../events/catalogue.ts'
import { isOwnOrAny, TOKEN_OWNER, type Holder } from '../shared/fair-share.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import { HOUR_MS } from '../shared/time.ts'

export interface TraceSession {
  readonly id: SessionId
  readonly label: string
  readonly agent: string | null
  /** Caller that opened the session and may extend and close it. */
  readonly owner: string
  readonly createdAt: Timestamp
  readonly lastAccessedAt: Timestamp
  readonly closedAt: Timestamp | null
  /** Trace ids of the session, its own id first. Requests with one of them belong to the session. */
  readonly traceIds: readonly string[]
}

export interface Traces {
  readonly sessions: PersistentMap<SessionId, TraceSession>
  /** Open sessions by trace id, so that events with the id count as access. */
  readonly sessionsOfTrace: PersistentMap<string, readonly SessionId[]>
  /** Sessions by owner, oldest first. */
  readonly sessionsOfOwner: PersistentMap<string, readonly SessionId[]>
}

export const INITIAL_TRACES: Traces = {
  sessions: PersistentMap(),
  sessionsOfTrace: PersistentMap(),
  sessionsOfOwner: PersistentMap(),
}

export const TRACE_IDS_MAX = 1000

/** Limit of sessions that one event counts as access to. Older sessions with the same trace id are ignored. */
export const SESSIONS_PER_TRACE_MAX = 10

/** Limit of sessions of one owner. A further one replaces the oldest, so that memory does not grow with history. */
export const SESSIONS_PER_OWNER_MAX = 200

type SessionStatus = 'open' | 'closed' | 'expired'

export const sessionStatusOf = (session: TraceSession, now: Timestamp, ttlHours: number): SessionStatus => {
  if (session.closedAt !== null) return 'closed'
  return Date.parse(now) - Date.parse(session.lastAccessedAt) > ttlHours * HOUR_MS ? 'expired' : 'open'
}

export const openSession = (
  { label, agent, owner }: Pick<TraceSession, 'label' | 'agent' | 'owner'>,
  sessionId: SessionId,
): Decision =>
  accept({
    type: 'trace.session_opened.v1',
    source: 'api',
    payload: { session_id: sessionId, label, agent, owner },
  })

export const appendTrace = (
  { sessions }: Traces,
  sessionId: SessionId,
  traceId: string,
  { now, ttlHours, by }: { readonly now: Timestamp; readonly ttlHours: number; readonly by: Holder },
): Decision => {
  const session = sessions.get(sessionId)
  if (session === undefined) return notFound(sessionId)
  if (!isOwnOrAny(by, session.owner)) return notOwner(sessionId)
  const status = sessionStatusOf(session, now, ttlHours)
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

/** Closes a session. Closing it again changes nothing. */
export const closeSession = ({ sessions }: Traces, sessionId: SessionId, by: Holder): Decision => {
  const session = sessions.get(sessionId)
  if (session === undefined) return notFound(sessionId)
  if (!isOwnOrAny(by, session.owner)) return notOwner(sessionId)
  if (session.closedAt !== null) return accept()
  return accept({ type: 'trace.session_closed.v1', source: 'api', payload: { session_id: sessionId } })
}

export const evolveTraces = (traces: Traces, event: KnownEvent): Traces => {
  switch (event.type) {
    case 'trace.session_opened.v1':
      return opened(accessed(traces, event), event)
    case 'trace.session_appended.v1': {
      const { session_id: id, trace_id: traceId } = event.payload
      return appended(accessed(traces, event), id, traceId, event.ts)
    }
    case 'trace.session_closed.v1':
      return closed(accessed(traces, event), event.payload.session_id, event.ts)
    default:
      return accessed(traces, event)
  }
}

const opened = (
  traces: Traces,
  { ts, payload }: Extract<KnownEvent, { type: 'trace.session_opened.v1' }>,
): Traces => {
  const { session_id: id, label, agent, owner = TOKEN_OWNER } = payload
  const times = { createdAt: ts, lastAccessedAt: ts, closedAt: null }
  const session = { id, label, agent, owner, ...times, traceIds: [id] }
  const own = traces.sessionsOfOwner.get(owner) ?? []
  const dropped = own.slice(0, Math.max(0, own.length + 1 - SESSIONS_PER_OWNER_MAX))
  const { sessions, sessionsOfTrace, sessionsOfOwner } = dropped.reduce(without, traces)
  return {
    sessions: sessions.set(id, session),
    sessionsOfTrace: linked(sessionsOfTrace, id, id),
    sessionsOfOwner: sessionsOfOwner.set(owner, [...own.slice(dropped.length), id]),
  }
}

const without = (traces: Traces, id: SessionId): Traces => {
  const session = traces.sessions.get(id)
  if (session === undefined) return traces
  return { ...unlinkedFrom(traces, session), sessions: traces.sessions.delete(id) }
}

/** Logs of earlier releases extend and close sessions that are no longer kept. */
const appended = (traces: Traces, id: SessionId, traceId: string, at: Timestamp): Traces => {
  const { sessions, sessionsOfTrace } = traces
  const session = sessions.get(id)
  if (session === undefined) return traces
  const traceIds = [...session.traceIds, traceId]
  return {
    ...traces,
    sessions: sessions.set(id, { ...session, lastAccessedAt: at, traceIds }),
    sessionsOfTrace: linked(sessionsOfTrace, traceId, id),
  }
}

const closed = (traces: Traces, id: SessionId, at: Timestamp): Traces => {
  const session = traces.sessions.get(id)
  if (session === undefined) return traces
  return {
    ...unlinkedFrom(traces, session),
    sessions: traces.sessions.set(id, { ...session, closedAt: at }),
  }
}

/** Ends the links from the trace ids of a session to the session. */
const unlinkedFrom = (traces: Traces, session: TraceSession): Traces => ({
  ...traces,
  sessionsOfTrace: session.traceIds.reduce(
    (links, traceId) => unlinked(links, traceId, session.id),
    traces.sessionsOfTrace,
  ),
})

const linked = (
  links: Traces['sessionsOfTrace'],
  traceId: string,
  id: SessionId,
): Traces['sessionsOfTrace'] =>
  links.update(traceId, [], (ids) => [...ids, id].slice(-SESSIONS_PER_TRACE_MAX))

const unlinked = (
  links: Traces['sessionsOfTrace'],
  traceId: string,
  id: SessionId,
): Traces['sessionsOfTrace'] => {
  const others = (links.get(traceId) ?? []).filter((other) => other !== id)
  return others.length === 0 ? links.delete(traceId) : links.set(traceId, others)
}

const accessed = (traces: Traces, { traceId, recordedAt }: KnownEvent): Traces => {
  const ids = traceId === null ? undefined : traces.sessionsOfTrace.get(traceId)
  if (ids === undefined) return traces
  const sessions = ids.reduce(
    (known, id) => known.update(id, (session) => session && { ...session, lastAccessedAt: recordedAt }),
    traces.sessions,
  )
  return { ...traces, sessions }
}

const notOwner = (sessionId: SessionId): Decision =>
  refuse('auth.not_owner', `trace session ${sessionId} is that of another caller`, { session_id: sessionId })

const notFound = (sessionId: SessionId): Decision =>
  refuse('trace.session_not_found', `no trace session has id ${sessionId}`, { session_id: sessionId })
