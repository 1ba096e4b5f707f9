import { attributionEvents } from '../../core/events/signals.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import { hasTypePrefix } from '../../core/log/event.ts'
import { stampedFrom, type LogRecord, type Stamped } from '../../core/log/event.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import { isPlainText } from '../../core/shared/text.ts'
import {
  producerOf,
  viewAttribution,
  type AttributionView,
  type Measure,
  type Verdict,
} from '../../core/views/signals.ts'
import { payloadOf } from '../../core/views/log.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Reader } from './trading-records.ts'

/** The author of a signal, its uses, trades and outcome; null if no signal has this id. */
export const attributionOf = async (reader: Reader, signalId: string): Promise<AttributionView | null> => {
  const { log } = reader
  const signal = await findSignal(log, signalId)
  if (signal === null) return null
  const attribution = await recordedAttribution(log, signalId)
  const [verdict, measure, uses, trades, feedback, { signals }] = await Promise.all([
    verdictOn(log, attribution),
    measureOf(log, attribution),
    usesOf(log, signalId),
    tradesOf(log, signalId),
    newestFeedback(log, signalId),
    reader.fresh(),
  ])
  return viewAttribution(
    signal,
    { attribution, verdict, measure, uses, trades, feedback },
    signals.contributors,
  )
}

export interface SignalOrigin {
  readonly signal: Stamped
  readonly attribution: PayloadOf<'attribution.recorded.v1'> | null
  readonly producerId: string | null
}

/** The signal with its author; null if no signal has this id. */
export const originOf = async (log: EventLog, signalId: string): Promise<SignalOrigin | null> => {
  const signal = await findSignal(log, signalId)
  if (signal === null) return null
  const attribution = await recordedAttribution(log, signalId)
  return { signal, attribution, producerId: producerOf(signal, attribution) }
}

const findSignal = async (log: EventLog, id: string): Promise<Stamped | null> => {
  if (!isPlainText(id)) return null
  const record = await log.get(id)
  return record !== null && hasTypePrefix(record.type, 'signal') ? readable(record) : null
}

const recordedAttribution = async (
  log: EventLog,
  signalId: string,
): Promise<PayloadOf<'attribution.recorded.v1'> | null> => {
  const [event] = await oldestAbout(log, signalId, 'attribution.recorded', 1)
  return event === undefined ? null : (event.payload as unknown as PayloadOf<'attribution.recorded.v1'>)
}

/** Feedback without effect is stored too, so some of it is skipped. */
const FEEDBACK_MAX = 1000

const newestFeedback = async (log: EventLog, signalId: string): Promise<AttributionView['feedback']> => {
  const search = {
    type: 'learning.feedback',
    order: 'desc',
    examinedMax: FEEDBACK_MAX,
    wantedMax: 1,
  } as const
  const [found] = await searchAbout(log, signalId, search, ({ payload }) => statesOutcome(payload))
  if (found === undefined) return null
  const { outcome, pnl } = found.payload as unknown as PayloadOf<'learning.feedback.v1'>
  return outcome === null ? null : { outcome, pnl, at: found.ts }
}

const statesOutcome = ({ matched, outcome }: JsonObject): boolean => matched === true && outcome !== null

/** How the call of a signal was resolved; null while it is open, or if the signal made none. */
export const verdictOn = async (
  log: EventLog,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
): Promise<Verdict | null> => {
  const callId = attribution?.call_id
  if (typeof callId !== 'string') return null
  const [event] = await oldestAbout(log, callId, 'attribution.resolved', 1)
  if (event === undefined) return null
  return { at: event.ts, payload: event.payload as unknown as PayloadOf<'attribution.resolved.v1'> }
}

/** The price at the due time of a call that was traded on; null before that, and for other calls. */
const measureOf = async (
  log: EventLog,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
): Promise<Measure | null> => {
  const callId = attribution?.call_id
  if (typeof callId !== 'string') return null
  const [event] = await oldestAbout(log, callId, 'attribution.measured', 1)
  const parsed = attributionEvents['attribution.measured.v1'].safeParse(event?.payload)
  return event === undefined || !parsed.success ? null : { at: event.ts, payload: parsed.data }
}

/** A signal counts for a few days, which are fewer cycles than this. */
const CONVICTIONS_MAX = 1000
const USES_MAX = 100

/** The cycles in which a signal had a share. A conviction also lists signals without one. */
const usesOf = async (log: EventLog, signalId: string): Promise<AttributionView['uses']> => {
  const search = {
    type: 'brain.conviction',
    order: 'asc',
    examinedMax: CONVICTIONS_MAX,
    wantedMax: USES_MAX,
  } as const
  const convictions = await searchAbout(
    log,
    signalId,
    search,
    ({ payload }) => numberIn(inputOf(payload, signalId), 'share') > 0,
  )
  return convictions.map((event) => useIn(event, signalId))
}

/** An intent opens at most one position, and a signal leads to few intents. */
const TRADES_MAX = 100

export const tradesOf = async (log: EventLog, signalId: string): Promise<AttributionView['trades']> => {
  const opened = await oldestAbout(log, signalId, 'execution.position_opened', TRADES_MAX)
  const ids = new Set<string>()
  const first = opened.filter(({ payload }) => {
    const id = textIn(payload, 'position_id')
    return id !== null && !ids.has(id) && ids.add(id)
  })
  return Promise.all(first.map((event) => tradeOf(log, event, signalId)))
}

const tradeOf = async (
  log: EventLog,
  { ts, payload }: Stamped,
  signalId: string,
): Promise<AttributionView['trades'][number]> => {
  const positionId = textIn(payload, 'position_id') ?? ''
  const intentId = textIn(payload, 'intent_id')
  const [intent, [closed]] = await Promise.all([
    intentId === null ? null : log.get(intentId),
    oldestAbout(log, positionId, 'execution.position_closed', 1),
  ])
  const pnl = closed?.payload['realized_pnl']
  const isOver = closed !== undefined && typeof pnl === 'number'
  return {
    position_id: positionId,
    intent_id: intentId,
    direction: textIn(payload, 'direction'),
    weight: intent === null ? null : weightIn(readable(intent).payload, signalId),
    opened_at: ts,
    closed_at: isOver ? closed.ts : null,
    pnl: isOver ? pnl : null,
    exit_reason: isOver ? textIn(closed.payload, 'exit_reason') : null,
  }
}

const useIn = ({ id, ts, payload }: Stamped, signalId: string): AttributionView['uses'][number] => {
  const input = inputOf(payload, signalId)
  const decision = payload['decision'] as JsonObject | undefined
  return {
    cycle_id: textIn(payload, 'cycle_id') ?? '',
    conviction_id: id,
    at: ts,
    symbol: textIn(payload, 'symbol') ?? '',
    action: decision === undefined ? '' : (textIn(decision, 'action') ?? ''),
    share: numberIn(input, 'share'),
    quality: numberIn(input, 'quality'),
    evidence: numberIn(input, 'evidence'),
    contribution: numberIn(input, 'contribution'),
  }
}

const inputOf = (payload: JsonObject, signalId: string): JsonObject =>
  listIn(payload, 'inputs').find(({ signal_id }) => signal_id === signalId) ?? {}

const weightIn = (intent: JsonObject, signalId: string): number | null => {
  const credit = listIn(intent, 'attribution').find(({ signal_id }) => signal_id === signalId)
  return credit === undefined ? null : numberIn(credit, 'weight')
}

const listIn = (payload: JsonObject, member: string): readonly JsonObject[] => {
  const list: Json | undefined = payload[member]
  return Array.isArray(list) ? (list as readonly JsonObject[]) : []
}

const numberIn = (payload: JsonObject, member: string): number => {
  const value = payload[member]
  return typeof value === 'number' ? value : 0
}

const textIn = (payload: JsonObject, member: string): string | null => {
  const value = payload[member]
  return typeof value === 'string' ? value : null
}

/** A damaged payload is read as an empty one; verification reports it. */
const readable = (record: LogRecord): Stamped =>
  stampedFrom({ ...record, payload: payloadOf(record) === null ? '{}' : record.payload })

/** Signals of clients may name any id, so only types that this engine writes are read. */
const oldestAbout = async (
  log: EventLog,
  id: string,
  type: string,
  limit: number,
): Promise<readonly Stamped[]> =>
  (await log.read({ about: id, types: [type], order: 'asc', limit })).map(readable)

export interface Search {
  readonly type: string
  readonly order: 'asc' | 'desc'
  readonly examinedMax: number
  readonly wantedMax: number
}

const STEP = 20

/** Events about a signal that match. Matches mostly come first, so it reads in small pages. */
export const searchAbout = async (
  log: EventLog,
  id: string,
  { type, order, examinedMax, wantedMax }: Search,
  isMatch: (event: Stamped) => boolean,
): Promise<readonly Stamped[]> => {
  const found: Stamped[] = []
  let bounds: { readonly after?: number; readonly before?: number } = {}
  for (let examined = 0; examined < examinedMax && found.length < wantedMax; examined += STEP) {
    const records = await log.read({ ...bounds, about: id, types: [type], order, limit: STEP })
    found.push(...records.map(readable).filter(isMatch))
    const last = records.at(-1)
    if (records.length < STEP || last === undefined) break
    bounds = order === 'asc' ? { after: last.seq } : { before: last.seq }
  }
  return found.slice(0, wantedMax)
}
