import type { Timestamp } from '../shared/brand.ts'
import { z } from 'zod'
import { asKnown } from '../events/catalogue.ts'
import type { LogRecord, Stamped } from '../log/event.ts'
import {
  evolveTraces,
  INITIAL_TRACES,
  sessionStatusOf,
  type Traces,
  type TraceSession,
} from '../signals/traces.ts'
import { assert } from '../shared/assert.ts'
import { eventRecordView, shownPayload } from './log.ts'
import { newestFirst, shown } from './members.ts'

export const traceSessionView = z.object({
  session_id: z.string(),
  id: z.string(),
  label: z.string(),
  agent: z.string().nullable(),
  owner: z
    .string()
    .meta({ description: 'who opened it: `token`, `operator`, or an access key with a part of its hash' }),
  status: z.enum(['open', 'closed', 'expired']),
  created_at: z.string(),
  last_accessed_at: z.string(),
  closed_at: z.string().nullable(),
  trace_ids: z.array(z.string()).meta({ description: 'the session’s own id first' }),
})

type TraceSessionView = z.infer<typeof traceSessionView>

const tracedEventView = eventRecordView.pick({
  id: true,
  type: true,
  ts: true,
  source: true,
  trace_id: true,
  payload: true,
})

export const traceSessionDetailView = traceSessionView.extend({
  expired: z.boolean(),
  events: z.array(tracedEventView).meta({ description: 'by seq, up to 1000' }),
})

export type TraceSessionDetailView = z.infer<typeof traceSessionDetailView>

/** Time of the view, and how long a session stays open without access. */
export interface SessionContext {
  readonly now: Timestamp
  readonly ttlHours: number
}

export const viewSession = (session: TraceSession, { now, ttlHours }: SessionContext): TraceSessionView =>
  showSession({ ...session, sessionId: session.id, status: sessionStatusOf(session, now, ttlHours) })

const showSession = shown(traceSessionView)

/** The session that these events opened. */
export const viewOpened = (events: readonly Stamped[], context: SessionContext): TraceSessionView => {
  const { sessions } = events.flatMap((event) => asKnown(event) ?? []).reduce(evolveTraces, INITIAL_TRACES)
  const [session] = sessions.values()
  assert(session !== undefined, 'opening a session opens one')
  return viewSession(session, context)
}

/** Newest first. */
export const viewSessions = (
  { sessions }: Traces,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  context: SessionContext,
): TraceSessionView[] =>
  [...sessions.values()]
    .sort(newestFirst(({ createdAt }) => createdAt))
    .slice(offset, offset + limit)
    .map((session) => viewSession(session, context))

export const viewSessionDetail = (
  session: TraceSession,
  records: readonly LogRecord[],
  context: SessionContext,
): TraceSessionDetailView => {
  const view = viewSession(session, context)
  return { ...view, expired: view.status === 'expired', events: records.map(viewTraced) }
}

const showTraced = shown(tracedEventView)

const viewTraced = (record: LogRecord): z.infer<typeof tracedEventView> =>
  showTraced({ ...record, payload: shownPayload(record) })
