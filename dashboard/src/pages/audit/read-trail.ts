import { ApiProblem, callApi, queryOf } from '../../api/client.ts'
import type { EventPage, EventRecord } from '../../api/log.ts'

export interface Trail {
  /** Both oldest first. */
  readonly causes: readonly EventRecord[]
  readonly consequences: readonly EventRecord[]
  readonly isCut: boolean
}

/** Members that name an event, and members that name what several events tell of. */
const EVENT_MEMBERS = ['signal_id', 'conviction_id', 'intent_id', 'signal_ids', 'intent_ids'] as const
const THING_MEMBERS = ['order_id', 'position_id', 'receipt_id', 'session_id'] as const

const NAMED_MAX = 20
const SHOWN_MAX = 25

/** Events that this one names or that name it, and those of the same order, position, receipt or cycle around it. */
export const readTrail = async (record: EventRecord, signal: AbortSignal): Promise<Trail> => {
  const { id, seq, payload, trace_id } = record
  const things = THING_MEMBERS.flatMap((name) => textsIn(payload[name])).slice(0, 3)
  const named = EVENT_MEMBERS.flatMap((name) => textsIn(payload[name]))
  // A trace is wide: it only helps where the event itself names nothing.
  const isSilent = things.length === 0 && named.length === 0
  const around = isSilent && trace_id !== null ? [`trace:${trace_id}`] : things
  const before = { before_seq: seq, order: 'desc', limit: SHOWN_MAX } as const
  const after = { after_seq: seq, order: 'asc', limit: SHOWN_MAX } as const
  const list = async (query: object): Promise<readonly EventRecord[]> =>
    (await callApi<EventPage>(`/events${queryOf({ ...query })}`, { signal })).items
  const [direct, earlier, later] = await Promise.all([
    Promise.all(named.slice(0, NAMED_MAX).map((one) => find(one, signal))),
    Promise.all(around.map((about) => list({ about, ...before }))),
    Promise.all([id, ...around].map((about) => list({ about, ...after }))),
  ])
  const causes = unique([...direct.filter((one) => one !== null), ...earlier.flat()], id)
  const consequences = unique(later.flat(), id)
  return {
    causes: causes.slice(-SHOWN_MAX),
    consequences: consequences.slice(0, SHOWN_MAX),
    isCut: consequences.length > SHOWN_MAX || later.some(({ length }) => length === SHOWN_MAX),
  }
}

const find = async (id: string, signal: AbortSignal): Promise<EventRecord | null> => {
  try {
    return await callApi<EventRecord>(`/events/${encodeURIComponent(id)}`, { signal })
  } catch (error) {
    // Strangers may name what never was.
    if (error instanceof ApiProblem && error.status === 404) return null
    throw error
  }
}

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is string => typeof one === 'string')

const unique = (events: readonly EventRecord[], exceptId: string): readonly EventRecord[] =>
  [...new Map(events.map((event) => [event.id, event])).values()]
    .filter(({ id }) => id !== exceptId)
    .toSorted((one, other) => one.seq - other.seq)
