import { type AttributionView, producerOf, viewAttribution } from '../../core/views/signals.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import { hasTypePrefix, type Stamped } from '../../core/log/event.ts'
import type { JsonObject } from '../../core/shared/json.ts'
import { isPlainText } from '../../core/shared/text.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Reader } from './reader.ts'
import { oldestAbout, readable, searchAbout } from './reading-about.ts'
import { measureOf, tradesOf, usesOf, verdictOn } from './signal-history.ts'

/** Who is behind a signal and what became of it; null if no signal has this id. */
export const attributionOf = async (reader: Reader, signalId: string): Promise<AttributionView | null> => {
  const { log } = reader
  const signal = await findSignal(log, signalId)
  if (signal === null) return null
  const attribution = await recordedAttribution(log, signalId)
  const [
    verdict,
    measure,
    uses,
    trades,
    feedback,
    {
      signals: { contributors },
    },
  ] = await Promise.all([
    verdictOn(log, attribution),
    measureOf(log, attribution),
    usesOf(log, signalId),
    tradesOf(log, signalId),
    newestFeedback(log, signalId),
    reader.fresh(),
  ])
  return viewAttribution(signal, { attribution, verdict, measure, uses, trades, feedback }, contributors)
}

export interface SignalOrigin {
  readonly signal: Stamped
  readonly attribution: PayloadOf<'attribution.recorded.v1'> | null
  readonly producerId: string | null
}

/** The signal of this id with who is behind it; null if there is none. */
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

/** Feedback of others on the same signal is stored too, and has no effect. */
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
