import { z } from 'zod'
import { eventRecordText, eventRecordView } from '../../../core/views/log.ts'
import { isPlainText } from '../../../core/shared/text.ts'
import type { LogRecord } from '../../../core/log/event.ts'
import { unsignedAmong } from '../../../engine/believed-log.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { okJsonText, refused, stream, type Refused } from '../results.ts'
import { EVENT_ID, EVENT_RECORD, SIGNAL } from '../examples.ts'
import { readEventPage, seqBoundsWithin } from '../event-page.ts'
import { integer, optionalInteger, pathText, textFilter, timeFilter } from '../fields.ts'
import { route, routes } from '../route.ts'
import { filterOf } from '../stream/frames.ts'
import type { StreamStart } from '../stream/hub.ts'

const eventRecord = eventRecordView.meta({ id: 'EventRecord' })

const listQuery = z.object({
  type: textFilter('type prefix by whole segments, such as `signal.ta`'),
  symbol: textFilter('only events about this symbol'),
  about: textFilter(
    'only events about this: the id of a signal, contributor, position, order, intent, conviction or cycle, or ' +
      '`trace:<trace id>`, or `source:<author of signals>`',
  ),
  source: textFilter('only events with exactly this source'),
  from: timeFilter('only events recorded at this time or later'),
  to: timeFilter('only events recorded before this time'),
  since: textFilter('event id; this event and later ones'),
  after_seq: optionalInteger({ min: 0 }, 'only events behind this seq'),
  before_seq: optionalInteger({ min: 0 }, 'only events before this seq'),
  order: z.enum(['asc', 'desc']).default('desc').meta({ description: 'by seq' }),
  limit: integer(100, { min: 1, max: 500 }, 'items per page'),
})

// Lists read the log itself and not the fold. They see the events of other processes without catching up first.
export const eventRoutes = routes('Events', {
  listEvents: route('GET', '/events', 'read', {
    summary: 'Stored events with hashes and signatures',
    description:
      '`next_seq` is the `after_seq` (ascending) or `before_seq` (descending) of the next page, null at the end. ' +
      'An event that no accepted key has signed is listed as it is stored, with `verified` false; nothing else shows it. ' +
      'With two or more of `type`, `symbol` and `about` a page may have fewer items than `limit` and still be followed by another.',
    query: listQuery,
    response: z.object({ items: z.array(eventRecord), limit: z.int(), next_seq: z.int().nullable() }),
    example: { items: [EVENT_RECORD], limit: 100, next_seq: null },
    problems: ['event.not_found'],
    handler: async ({ query: asked }, { engine }) => {
      const { storedLog: log } = engine
      const { since, after_seq, before_seq, from, to, ...filter } = asked
      const first = since === undefined ? undefined : await log.get(since)
      if (since !== undefined && !first) return unknownEvent(since)
      const after = first ? Math.max(first.seq - 1, after_seq ?? 0) : after_seq
      const bounds = await seqBoundsWithin(log, { after, before: before_seq }, { from, to })
      const page = await readEventPage(log, { ...filter, ...bounds })
      const items = (await recordTexts(page.records, engine)).join(',')
      return okJsonText(`{"items":[${items}],"limit":${filter.limit},"next_seq":${page.nextSeq}}`)
    },
  }),
  getEvent: route('GET', '/events/:id', 'read', {
    summary: 'One stored event',
    params: z.object({ id: pathText('the id of the event', EVENT_ID) }),
    response: eventRecord,
    example: EVENT_RECORD,
    problems: ['event.not_found'],
    handler: async ({ params: { id } }, { engine }) => {
      const record = await findEvent(engine.storedLog, id)
      if (record === null) return unknownEvent(id)
      const [text = ''] = await recordTexts([record], engine)
      return okJsonText(text)
    },
  }),
  streamEvents: route('GET', '/events/stream', 'read', {
    streams: true,
    summary: 'Events as they are stored, as server-sent events',
    description:
      'Each message has the event’s id and one line of data: JSON with `id`, `type`, `ts`, `source` and `payload`. ' +
      'Events that no accepted key has signed are not sent. ' +
      'Without `since` and `Last-Event-ID` only new events are sent; with both, the later position counts. ' +
      'An unknown id is answered with a comment and new events. ' +
      'A client with more than `stream.buffer_events` unread events is disconnected, and may reconnect.',
    query: z.object({
      domain: textFilter('first segments of types, separated by commas, such as `signal,alert`; empty = all'),
      since: z.string().optional().meta({ description: 'event id; this event and later ones' }),
    }),
    headers: z.object({
      'last-event-id': z.string().optional().meta({ description: 'event id; only later ones' }),
    }),
    response: z.string(),
    responseType: 'text/event-stream',
    example: `retry: 2000\n\nid: ${SIGNAL.id}\ndata: ${JSON.stringify(SIGNAL)}\n\n`,
    problems: ['stream.too_many_clients'],
    handler: async ({ query: { domain, since }, headers: given }, { engine, streams }) => {
      const start = await findStart(engine.storedLog, since, given['last-event-id'])
      // Events that another process stored before this moment are not new.
      if (start.kind === 'now') await engine.fresh()
      return stream((connection) => streams.open(connection, { start, filter: filterOf(domain) }))
    },
  }),
})

/** Records as stored, for investigations. Unsigned records are marked. */
const recordTexts = async (records: readonly LogRecord[], engine: Engine): Promise<readonly string[]> => {
  const unsigned = await unsignedAmong(records, engine)
  return records.map((record) => eventRecordText(record, { isUnsigned: unsigned.has(record.seq) }))
}

/** The event with this id; null for text that cannot be an id. */
export const findEvent = async (log: EventLog, id = '') => (isPlainText(id) ? log.get(id) : null)

export const unknownEvent = (id: string): Refused =>
  refused('event.not_found', 'No event has this id', { extras: { event_id: id } })

/**
 * Start of the stream. `since` includes its event, `Last-Event-ID` does not. Of two positions the later counts. An
 * unknown id counts only without another position.
 */
const findStart = async (
  log: EventLog,
  since: string | undefined,
  lastEventId: string | undefined,
): Promise<StreamStart> => {
  const [first, last] = await Promise.all([findEvent(log, since), findEvent(log, lastEventId)])
  const after = Math.max(first === null ? -1 : first.seq - 1, last?.seq ?? -1)
  if (after >= 0) return { kind: 'after', seq: after }
  return { kind: 'now', because: since || lastEventId ? 'unknown-id' : 'nothing-asked' }
}
