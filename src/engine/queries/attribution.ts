import {
  producerOf,
  viewAttribution,
  type Aftermath,
  type AttributionView,
} from '../../core/views/attribution.ts'
import { payloadOf } from '../../core/views/stored-payload.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import { hasTypePrefix } from '../../core/log/domain.ts'
import { stampedFrom, type LogRecord, type Stamped } from '../../core/log/event.ts'
import type { Json, JsonObject } from '../../core/vocabulary/json.ts'
import { isPlainText } from '../../core/vocabulary/text.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Reader } from './reader.ts'

/** Who is behind a signal and what became of it; null if no signal has this id. */
export const attributionOf = async (reader: Reader, signalId: string): Promise<AttributionView | null> => {
  const signal = await findSignal(reader.log, signalId)
  if (signal === null) return null
  const [attribution, accepted, trades, feedback, { contributors }] = await Promise.all([
    recordedAttribution(reader.log, signalId),
    wasUsed(reader.log, signalId),
    tradesOf(reader.log, signalId),
    newestFeedback(reader.log, signalId),
    reader.fresh(),
  ])
  return viewAttribution(signal, { attribution, accepted, feedback, ...trades }, contributors)
}

export interface SignalOrigin {
  readonly signal: Stamped
  readonly producerId: string | null
}

/** The signal of this id with who is behind it; null if there is none. */
export const originOf = async (log: EventLog, signalId: string): Promise<SignalOrigin | null> => {
  const signal = await findSignal(log, signalId)
  if (signal === null) return null
  return { signal, producerId: producerOf(signal, await recordedAttribution(log, signalId)) }
}

const findSignal = async (log: EventLog, id: string): Promise<Stamped | null> => {
  if (!isPlainText(id)) return null
  const record = await log.get(id)
  return record !== null && hasTypePrefix(record.type, 'signal') ? readable(record) : null
}

/** A damaged payload is reported by verification; here it says nothing. */
const readable = (record: LogRecord): Stamped =>
  stampedFrom({ ...record, payload: payloadOf(record) === null ? '{}' : record.payload })

/** Strangers may name an id in their signals: only events that this engine writes are asked. */
const oldestAbout = async (
  log: EventLog,
  id: string,
  type: string,
  limit: number,
): Promise<readonly Stamped[]> =>
  (await log.read({ about: id, types: [type], order: 'asc', limit })).map(readable)

const recordedAttribution = async (
  log: EventLog,
  signalId: string,
): Promise<PayloadOf<'attribution.recorded.v1'> | null> => {
  const [event] = await oldestAbout(log, signalId, 'attribution.recorded', 1)
  return event === undefined ? null : (event.payload as unknown as PayloadOf<'attribution.recorded.v1'>)
}

/** A signal counts for a few days; in so many cycles it has been used or it never will be. */
const CONVICTIONS_MAX = 1000

const wasUsed = async (log: EventLog, signalId: string): Promise<boolean> => {
  const search = { type: 'brain.conviction', order: 'asc', examinedMax: CONVICTIONS_MAX } as const
  return (await firstAbout(log, signalId, search, ({ payload }) => hasShare(payload, signalId))) !== null
}

/** A conviction lists what it looked at; only what has a share was used. */
const hasShare = ({ inputs }: JsonObject, signalId: string): boolean =>
  !Array.isArray(inputs) ||
  (inputs as readonly JsonObject[]).some(
    ({ signal_id, share }) => signal_id === signalId && typeof share === 'number' && share > 0,
  )

/** An intent opens at most one position, and a signal leads to few intents. */
const TRADES_MAX = 100

const tradesOf = async (
  log: EventLog,
  signalId: string,
): Promise<Pick<Aftermath, 'positionIds' | 'outcome'>> => {
  const opened = await oldestAbout(log, signalId, 'execution.position_opened', TRADES_MAX)
  const positionIds = [...new Set(opened.flatMap(({ payload }) => textIn(payload['position_id'])))]
  const closed = await Promise.all(positionIds.map((id) => closingOf(log, id)))
  return { positionIds, outcome: outcomeOf(closed) }
}

const textIn = (value: Json | undefined): readonly string[] => (typeof value === 'string' ? [value] : [])

interface Closing {
  readonly pnl: number
  readonly at: string
}

const closingOf = async (log: EventLog, positionId: string): Promise<Closing | null> => {
  const [event] = await oldestAbout(log, positionId, 'execution.position_closed', 1)
  const pnl = event?.payload['realized_pnl']
  return event === undefined || typeof pnl !== 'number' ? null : { pnl, at: event.ts }
}

/** Known once every trade is over. */
const outcomeOf = (closings: readonly (Closing | null)[]): AttributionView['outcome'] => {
  const closed = closings.filter((closing) => closing !== null)
  if (closed.length === 0 || closed.length < closings.length) return null
  return {
    pnl: closed.reduce((sum, { pnl }) => sum + pnl, 0),
    realized_at:
      closed
        .map(({ at }) => at)
        .toSorted()
        .at(-1) ?? '',
  }
}

/** Feedback of others on the same signal is stored too, and has no effect. */
const FEEDBACK_MAX = 1000

const newestFeedback = async (log: EventLog, signalId: string): Promise<AttributionView['feedback']> => {
  const search = { type: 'learning.feedback', order: 'desc', examinedMax: FEEDBACK_MAX } as const
  const found = await firstAbout(log, signalId, search, ({ payload }) => statesOutcome(payload))
  if (found === null) return null
  const { outcome, pnl } = found.payload as unknown as PayloadOf<'learning.feedback.v1'>
  return outcome === null ? null : { outcome, pnl, at: found.ts }
}

const statesOutcome = ({ matched, outcome }: JsonObject): boolean => matched === true && outcome !== null

interface Search {
  readonly type: string
  readonly order: 'asc' | 'desc'
  readonly examinedMax: number
}

const STEP = 20

/** The first event about a signal that is the right one. Mostly it stands at the beginning, so little is read. */
const firstAbout = async (
  log: EventLog,
  signalId: string,
  { type, order, examinedMax }: Search,
  isRight: (event: Stamped) => boolean,
): Promise<Stamped | null> => {
  let bounds: { readonly after?: number; readonly before?: number } = {}
  for (let examined = 0; examined < examinedMax; examined += STEP) {
    const records = await log.read({ ...bounds, about: signalId, types: [type], order, limit: STEP })
    const found = records.map(readable).find(isRight)
    const last = records.at(-1)
    if (found !== undefined) return found
    if (records.length < STEP || last === undefined) return null
    bounds = order === 'asc' ? { after: last.seq } : { before: last.seq }
  }
  return null
}
