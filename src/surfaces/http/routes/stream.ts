import { z } from 'zod'
import { stream } from '../answers.ts'
import { SIGNAL } from '../examples.ts'
import { textFilter } from '../fields.ts'
import { defineRoute } from '../route.ts'
import { filterOf } from '../stream/filter.ts'
import { findStart } from '../stream/start.ts'

const query = z.object({
  domain: textFilter('first segments of types, separated by commas, such as `signal,alert`; empty = all'),
  since: z.string().optional().meta({ description: 'event id; this event and later ones' }),
})

const headers = z.object({
  'last-event-id': z.string().optional().meta({ description: 'event id; only later ones' }),
})

export const streamRoutes = [
  defineRoute({
    method: 'GET',
    path: '/events/stream',
    access: 'bearer',
    streams: true,
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Events as they are stored, as server-sent events',
    description:
      'Each message has the event’s id and one line of data: JSON with `id`, `type`, `ts`, `source` and `payload`. ' +
      'Without `since` and `Last-Event-ID` only new events are sent; with both, the later position counts. ' +
      'An unknown id is answered with a comment and new events. ' +
      'A client that lets more than `stream.buffer_events` events wait is disconnected, and may come back.',
    query,
    headers,
    response: z.string(),
    responseType: 'text/event-stream',
    example: `retry: 2000\n\nid: ${SIGNAL.id}\ndata: ${JSON.stringify(SIGNAL)}\n\n`,
    problems: ['stream.too_many_clients'],
    handler: async ({ query: { domain, since }, headers: given }, { engine: { log }, streams }) => {
      const start = await findStart(log, { since, lastEventId: given['last-event-id'] })
      return stream((line) => streams.open(line, { start, filter: filterOf(domain) }))
    },
  }),
]
