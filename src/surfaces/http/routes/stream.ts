import { z } from 'zod'
import { isPlainText } from '../../../core/shared/text.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { stream } from '../results.ts'
import { SIGNAL } from '../examples.ts'
import { textFilter } from '../fields.ts'
import { defineRoute } from '../route.ts'
import { filterOf } from '../stream/frames.ts'
import type { StreamStart } from '../stream/hub.ts'

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
    streams: true,
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Events as they are stored, as server-sent events',
    description:
      'Each message has the event’s id and one line of data: JSON with `id`, `type`, `ts`, `source` and `payload`. ' +
      'Without `since` and `Last-Event-ID` only new events are sent; with both, the later position counts. ' +
      'An unknown id is answered with a comment and new events. ' +
      'A client with more than `stream.buffer_events` unread events is disconnected, and may reconnect.',
    query,
    headers,
    response: z.string(),
    responseType: 'text/event-stream',
    example: `retry: 2000\n\nid: ${SIGNAL.id}\ndata: ${JSON.stringify(SIGNAL)}\n\n`,
    problems: ['stream.too_many_clients'],
    handler: async ({ query: { domain, since }, headers: given }, { engine: { log }, streams }) => {
      const start = await findStart(log, since, given['last-event-id'])
      return stream((connection) => streams.open(connection, { start, filter: filterOf(domain) }))
    },
  }),
]

/** `since` includes its event, `Last-Event-ID` does not. Of two positions the later counts; an unknown id only if alone. */
const findStart = async (
  log: EventLog,
  since: string | undefined,
  lastEventId: string | undefined,
): Promise<StreamStart> => {
  const [first, last] = await Promise.all([seqOf(log, since), seqOf(log, lastEventId)])
  const after = Math.max(first === null ? -1 : first - 1, last ?? -1)
  if (after >= 0) return { kind: 'after', seq: after }
  return { kind: 'now', because: since || lastEventId ? 'unknown-id' : 'nothing-asked' }
}

/** Text that cannot be an id is not looked up. */
const seqOf = async (log: EventLog, id = ''): Promise<number | null> =>
  isPlainText(id) ? ((await log.get(id))?.seq ?? null) : null
