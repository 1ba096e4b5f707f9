import { attributionEvents } from '../../core/events/signals.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import type { Stamped } from '../../core/log/event.ts'
import type { AttributionView, Measure, Verdict } from '../../core/views/signals.ts'
import type { Json, JsonObject } from '../../core/shared/json.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { oldestAbout, readable, searchAbout } from './reading-about.ts'

/** How the call that a signal made was judged; null if it is open, or the signal made none. */
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

/** What the price did by the time of a call that was traded on; null before, and for calls that nobody traded on. */
export const measureOf = async (
  log: EventLog,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
): Promise<Measure | null> => {
  const callId = attribution?.call_id
  if (typeof callId !== 'string') return null
  const [event] = await oldestAbout(log, callId, 'attribution.measured', 1)
  const parsed = attributionEvents['attribution.measured.v1'].safeParse(event?.payload)
  return event === undefined || !parsed.success ? null : { at: event.ts, payload: parsed.data }
}

/** A signal counts for a few days; in so many cycles it has been used or it never will be. */
const CONVICTIONS_MAX = 1000
const USES_MAX = 100

/** The cycles in which a signal had a share. A conviction also lists what it only looked at. */
export const usesOf = async (log: EventLog, signalId: string): Promise<AttributionView['uses']> => {
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
