import type { PayloadOf } from '../../core/events/catalogue.ts'
import { hasTypePrefix, stampedFrom } from '../../core/log/event.ts'
import { isPlainText } from '../../core/shared/text.ts'
import { payloadOf } from '../../core/log/payload.ts'
import {
  producerOf,
  viewAttribution,
  type AttributionView,
  type Judged,
  type ResolvedCall,
} from '../../core/views/signals.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { oldestAbout, searchAbout, soundEvents, type SoundEvent } from './sound-events.ts'
import type { Reader } from './trading-records.ts'

/** The author of a signal, its uses, trades and outcome; null if no signal has this id. */
export const attributionOf = async (reader: Reader, signalId: string): Promise<AttributionView | null> => {
  const { log } = reader
  const origin = await originOf(log, signalId)
  if (origin === null) return null
  const { signal, attribution } = origin
  const [verdict, measure, uses, trades, feedback, { signals }] = await Promise.all([
    verdictOn(log, attribution),
    judgedAs(log, attribution, 'attribution.measured.v1'),
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

/** The signal with its author; null if no signal has this id. */
export const originOf = async (log: EventLog, signalId: string) => {
  const record = isPlainText(signalId) ? await log.get(signalId) : null
  if (record === null || !hasTypePrefix(record.type, 'signal')) return null
  // A damaged payload is read as an empty one. Verification reports it.
  const signal = stampedFrom(payloadOf(record) === null ? { ...record, payload: '{}' } : record)
  const [recorded] = await oldestAbout(log, signalId, 'attribution.recorded.v1', 1)
  const attribution = recorded?.payload ?? null
  return { signal, attribution, producerId: producerOf(signal, attribution) }
}

/** The latest effective feedback. Feedback without effect is also stored, so some records are skipped. */
const newestFeedback = async (log: EventLog, signalId: string): Promise<AttributionView['feedback']> => {
  const search = { type: 'learning.feedback.v1', order: 'desc', wantedMax: 1 } as const
  const [found] = await searchAbout(
    log,
    signalId,
    search,
    ({ matched, outcome }) => matched && outcome !== null,
  )
  if (found === undefined) return null
  const { outcome, pnl } = found.payload
  return outcome === null ? null : { outcome, pnl, at: found.ts }
}

/** The event that settled the call of a signal; null while the call is open, or if the signal made none. */
export const verdictOn = (
  log: EventLog,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
): Promise<ResolvedCall | null> => judgedAs(log, attribution, 'attribution.resolved.v1')

const judgedAs = async <Type extends 'attribution.resolved.v1' | 'attribution.measured.v1'>(
  log: EventLog,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
  type: Type,
): Promise<Judged<Type> | null> => {
  const callId = attribution?.call_id
  if (typeof callId !== 'string') return null
  const [event] = await oldestAbout(log, callId, type, 1)
  return event === undefined ? null : { at: event.ts, payload: event.payload }
}

const USES_MAX = 100

/** Cycles in which a signal had a share. A conviction also lists signals without a share. */
const usesOf = async (log: EventLog, signalId: string): Promise<AttributionView['uses']> => {
  const inputOf = ({ inputs }: PayloadOf<'brain.conviction.v1'>) =>
    inputs.find(({ signal_id, share }) => signal_id === signalId && share > 0)
  const search = { type: 'brain.conviction.v1', order: 'asc', wantedMax: USES_MAX } as const
  const convictions = await searchAbout(log, signalId, search, (payload) => inputOf(payload) !== undefined)
  return convictions.flatMap(({ id, ts, payload }) => {
    const input = inputOf(payload)
    if (input === undefined) return []
    const { cycle_id, symbol, decision } = payload
    const { share, quality, evidence, contribution } = input
    const use = { cycle_id, conviction_id: id, at: ts, symbol, action: decision.action }
    return [{ ...use, share, quality, evidence, contribution }]
  })
}

/** Limit of trades per signal. An intent opens at most one position, and a signal leads to few intents. */
const TRADES_MAX = 100

export const tradesOf = async (log: EventLog, signalId: string): Promise<AttributionView['trades']> => {
  const opened = await oldestAbout(log, signalId, 'execution.position_opened.v1', TRADES_MAX)
  const ids = new Set<string>()
  const first = opened.filter(({ payload: { position_id: id } }) => !ids.has(id) && ids.add(id))
  return Promise.all(first.map((event) => tradeOf(log, event, signalId)))
}

const tradeOf = async (
  log: EventLog,
  { ts, payload }: SoundEvent<'execution.position_opened.v1'>,
  signalId: string,
): Promise<AttributionView['trades'][number]> => {
  const { position_id, intent_id, direction } = payload
  const [record, [closed]] = await Promise.all([
    log.get(intent_id),
    oldestAbout(log, position_id, 'execution.position_closed.v1', 1),
  ])
  const [intent] = record === null ? [] : soundEvents(record, 'execution.trade_intent.v1')
  const credit = intent?.payload.attribution.find(({ signal_id }) => signal_id === signalId)
  return {
    position_id,
    intent_id,
    direction,
    weight: credit?.weight ?? null,
    opened_at: ts,
    closed_at: closed?.ts ?? null,
    pnl: closed?.payload.realized_pnl ?? null,
    exit_reason: closed?.payload.exit_reason ?? null,
  }
}
