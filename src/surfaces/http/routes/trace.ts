import { sessionId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import {
  traceSessionDetailView,
  traceSessionView,
  viewOpened,
  viewSession,
  viewSessions,
  type SessionContext,
} from '../../../core/views/trace-sessions.ts'
import type { TraceSession } from '../../../core/signals/traces.ts'
import { assert } from '../../../core/shared/assert.ts'
import { plainText } from '../../../core/shared/text.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { traceSessionOf } from '../../../engine/queries/trace-session.ts'
import { resultOf, ok, refused } from '../results.ts'
import { SESSION, SESSION_ID, SIGNAL, TS } from '../examples.ts'
import { integer, pathText } from '../fields.ts'
import { defineRoute, type Service } from '../route.ts'

const tag = 'Agents'
const session = traceSessionView.meta({ id: 'TraceSession' })
const params = z.object({ id: pathText('the id of the session', SESSION_ID) })

export const traceRoutes = [
  defineRoute({
    method: 'POST',
    path: '/trace/sessions',
    operationId: 'openTraceSession',
    tag,
    summary: 'Open a trace session',
    description: 'Its id is its first trace id: requests with `X-Trace-Id: <id>` belong to it.',
    body: z
      .object({
        label: z.string().max(255).default(''),
        agent: z.string().max(128).nullable().default(null),
      })
      .meta({ examples: [{ label: 'nightly review', agent: 'reviewer-1' }] })
      .optional(),
    bodyIsOptional: true,
    response: session,
    example: SESSION,
    successStatus: 201,
    handler: async ({ body, traceId }, service) => {
      const { label, agent } = body ?? { label: '', agent: null }
      const outcome = await service.engine.execute({ kind: 'open-session', label, agent }, { traceId })
      return resultOf(outcome, (events) => viewOpened(events, contextOf(service)), { status: 201 })
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/trace/sessions',
    operationId: 'listTraceSessions',
    tag,
    summary: 'Trace sessions, newest first',
    query: z.object({
      limit: integer(100, { min: 1, max: 500 }, 'items per page'),
      offset: integer(0, { min: 0 }, 'items to leave out'),
    }),
    response: z.object({ items: z.array(session) }),
    example: { items: [SESSION] },
    handler: async ({ query }, service) =>
      ok({ items: viewSessions((await service.engine.fresh()).signals.traces, query, contextOf(service)) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/trace/sessions/:id',
    operationId: 'getTraceSession',
    tag,
    summary: 'One trace session, with what happened in it',
    params,
    response: traceSessionDetailView.meta({ id: 'TraceSessionDetail' }),
    example: { ...SESSION, expired: false, events: [{ ...SIGNAL, trace_id: SESSION_ID }] },
    problems: ['trace.session_not_found'],
    handler: async ({ params: { id } }, service) => {
      const found = await traceSessionOf(service.engine, id, contextOf(service))
      return found === null
        ? refused('trace.session_not_found', 'No trace session has this id', { extras: { session_id: id } })
        : ok(found)
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/trace/sessions/:id/append',
    operationId: 'appendToTraceSession',
    tag,
    summary: 'Add a trace id to a session',
    params,
    body: z.object({ trace_id: plainText() }).meta({ examples: [{ trace_id: 'run-7' }] }),
    response: session,
    example: { ...SESSION, trace_ids: [SESSION_ID, 'run-7'] },
    problems: ['trace.session_not_found', 'trace.session_closed', 'trace.session_full'],
    handler: async ({ params: { id }, body, traceId }, service) => {
      const command = { kind: 'append-trace', sessionId: sessionId(id), traceId: body.trace_id } as const
      return resultOf(await service.engine.execute(command, { traceId }), () =>
        viewSession(sessionAfter(service, id), contextOf(service)),
      )
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/trace/sessions/:id',
    operationId: 'closeTraceSession',
    tag,
    summary: 'Close a trace session',
    description: 'It stays readable. Closing it again changes nothing.',
    params,
    response: z.object({ session_id: z.string(), status: z.literal('closed'), closed_at: z.string() }),
    example: { session_id: SESSION_ID, status: 'closed', closed_at: TS },
    problems: ['trace.session_not_found'],
    handler: async ({ params: { id }, traceId }, service) => {
      const outcome = await service.engine.execute(
        { kind: 'close-session', sessionId: sessionId(id) },
        { traceId },
      )
      return resultOf(outcome, () => {
        const { closedAt } = sessionAfter(service, id)
        return { session_id: id, status: 'closed', closed_at: closedAt ?? '' } as const
      })
    },
  }),
]

const contextOf = ({ clock, configuration }: Service): SessionContext => ({
  now: isoNow(clock),
  ttlHours: configuration.current().trace.session_ttl_hours,
})

/** The session after a command about it; sessions are never dropped. */
const sessionAfter = ({ engine }: Service, id: string): TraceSession => {
  const found = engine.state.signals.traces.sessions.get(sessionId(id))
  assert(found !== undefined, `trace session ${id} is gone`)
  return found
}
