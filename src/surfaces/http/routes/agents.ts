import { sessionId } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { capabilitiesView } from '../../../core/views/capabilities.ts'
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
import { capabilitiesOf } from '../../../engine/queries/views.ts'
import { traceSessionOf } from '../../../engine/queries/trace-session.ts'
import { SESSION_ID, SIGNAL, TS } from '../examples.ts'
import { holderOf, ownerOf } from '../../caller.ts'
import { ok, okOr } from '../results.ts'
import { integer, pathText } from '../fields.ts'
import { route, routes, type Service } from '../route.ts'

const SESSION = {
  session_id: SESSION_ID,
  id: SESSION_ID,
  label: 'nightly review',
  agent: 'reviewer-1',
  owner: 'token',
  status: 'open',
  created_at: TS,
  last_accessed_at: TS,
  closed_at: null,
  trace_ids: [SESSION_ID],
} as const

const session = traceSessionView.meta({ id: 'TraceSession' })
const params = z.object({ id: pathText('the id of the session', SESSION_ID) })

export const agentRoutes = routes('Agents', {
  getCapabilities: route('GET', '/capabilities', 'read', {
    summary: 'Tools, event domains and producers',
    response: capabilitiesView.meta({ id: 'Capabilities' }),
    example: {
      tools: [
        { name: 'get_open_positions', description: 'All positions that are not closed, newest first.' },
      ],
      event_domains: ['alert', 'brain', 'signal', 'system'],
      producers: [
        {
          producer_id: 'p1',
          signal_types: [{ name: 'signal.onchain.v1', schema: { type: 'object' } }],
          last_seen: null,
          health: 'unknown',
        },
      ],
    },
    handler: async (_input, { engine, clock }) => ok(await capabilitiesOf(engine, clock)),
  }),
  openTraceSession: route('POST', '/trace/sessions', 'submit', {
    summary: 'Open a trace session',
    description: 'Its id is its first trace id: requests with `X-Trace-Id: <id>` belong to it.',
    body: z
      .object({
        label: z.string().max(255).default(''),
        agent: z.string().max(128).nullable().default(null),
      })
      .meta({ examples: [{ label: 'nightly review', agent: 'reviewer-1' }] })
      .optional(),
    response: session,
    example: SESSION,
    successStatus: 201,
    author: () => null,
    handler: ({ body: { label, agent } = { label: '', agent: null }, caller, execute }, service) =>
      execute({ kind: 'open-session', label, agent, owner: ownerOf(caller) }, (events) =>
        viewOpened(events, contextOf(service)),
      ),
  }),
  listTraceSessions: route('GET', '/trace/sessions', 'read', {
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
  getTraceSession: route('GET', '/trace/sessions/:id', 'read', {
    summary: 'One trace session, with what happened in it',
    params,
    response: traceSessionDetailView.meta({ id: 'TraceSessionDetail' }),
    example: { ...SESSION, expired: false, events: [{ ...SIGNAL, trace_id: SESSION_ID }] },
    problems: ['trace.session_not_found'],
    handler: async ({ params: { id } }, service) => {
      const found = await traceSessionOf(service.engine, id, contextOf(service))
      return okOr(found, 'trace.session_not_found', 'No trace session has this id', { session_id: id })
    },
  }),
  appendToTraceSession: route('PUT', '/trace/sessions/:id/append', 'submit', {
    summary: 'Add a trace id to a session',
    params,
    body: z.object({ trace_id: plainText() }).meta({ examples: [{ trace_id: 'run-7' }] }),
    response: session,
    example: { ...SESSION, trace_ids: [SESSION_ID, 'run-7'] },
    problems: ['trace.session_not_found', 'trace.session_closed', 'trace.session_full', 'auth.not_owner'],
    author: () => null,
    handler: ({ params: { id }, body, caller, execute }, service) =>
      execute(
        { kind: 'append-trace', sessionId: sessionId(id), traceId: body.trace_id, by: holderOf(caller) },
        () => viewSession(sessionAfter(service, id), contextOf(service)),
      ),
  }),
  closeTraceSession: route('DELETE', '/trace/sessions/:id', 'submit', {
    summary: 'Close a trace session',
    description:
      'It stays readable. Closing it again changes nothing. Only who opened a session, and operators, extend and close it.',
    params,
    response: z.object({ session_id: z.string(), status: z.literal('closed'), closed_at: z.string() }),
    example: { session_id: SESSION_ID, status: 'closed', closed_at: TS },
    problems: ['trace.session_not_found', 'auth.not_owner'],
    author: () => null,
    handler: ({ params: { id }, caller, execute }, service) =>
      execute({ kind: 'close-session', sessionId: sessionId(id), by: holderOf(caller) }, () => {
        const { closedAt } = sessionAfter(service, id)
        return { session_id: id, status: 'closed', closed_at: closedAt ?? '' } as const
      }),
  }),
})

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
