import { nodeId } from '../../core/shared/brand.ts'
import type { FeedbackStatus } from '../../core/reputation/feedback.ts'
import { isBuiltin } from '../../core/signals/producers.ts'
import type { NewPayload, PayloadOf } from '../../core/events/catalogue.ts'
import { sourceRef } from '../../core/log/refs.ts'
import { scoreOf } from '../../core/signals/signals.ts'
import type { State } from '../../core/state.ts'
import { isPlainText } from '../../core/shared/text.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { originOf, tradesOf, verdictOn } from './attribution.ts'
import { searchAbout } from './sound-events.ts'

/** An agent's feedback on a producer's signal. */
export interface Feedback {
  readonly signalId: string | null
  readonly outcome: PayloadOf<'learning.feedback.v1'>['outcome']
  readonly pnl: number | null
  readonly note: string | null
}

/**
 * Whether the id belongs to a registered or built-in producer, a contributor with signals, or the source of a stored
 * signal.
 */
export const isKnownProducer = async (log: EventLog, state: State, id: string): Promise<boolean> => {
  if (
    isBuiltin(id) ||
    state.signals.producers.registered.has(id) ||
    state.signals.trails.byNode.has(nodeId(id))
  )
    return true
  if (!isPlainText(id)) return false
  const signals = await log.read({ about: sourceRef(id), order: 'desc', limit: 1 })
  return signals.length > 0
}

/** Feedback, and facts of the log that decide whether it counts. */
export interface MatchedFeedback {
  readonly feedback: Omit<NewPayload<'learning.feedback.v1'>, 'counted' | 'weight'>
  readonly status: FeedbackStatus
}

/** The feedback with its signal, if the signal belongs to this producer. */
export const matchedFeedback = async (
  log: EventLog,
  producerId: string,
  { signalId, outcome, pnl, note }: Feedback,
  submittedBy: string,
): Promise<MatchedFeedback> => {
  const origin = signalId === null ? null : await originOf(log, signalId)
  const signal = origin?.producerId === producerId ? origin.signal : null
  const attribution = signal === null ? null : (origin?.attribution ?? null)
  const feedback = {
    producer_id: producerId,
    signal_id: signalId,
    outcome,
    pnl,
    note,
    matched: signal !== null,
    signal_type: signal?.type ?? null,
    score: signal === null ? null : scoreOf(signal.payload),
    submitted_by: submittedBy,
    contributor_id: attribution?.contributor_id ?? null,
  }
  if (signal === null || attribution === null) return { feedback, status: NOT_JUDGED }
  const [isVoid, isRepeated] = await Promise.all([
    hasNoAnswer(log, attribution),
    wasCounted(log, signal.id, submittedBy),
  ])
  return { feedback, status: { isVoid, isRepeated } }
}

const NOT_JUDGED: FeedbackStatus = { isVoid: false, isRepeated: false }

/** Whether the call was resolved without a result, or cannot be resolved: it has no price and was not traded. */
const hasNoAnswer = async (
  log: EventLog,
  attribution: PayloadOf<'attribution.recorded.v1'>,
): Promise<boolean> => {
  if (typeof attribution.call_id !== 'string') return false
  const verdict = await verdictOn(log, attribution)
  if (verdict !== null) return verdict.payload.hit === null
  return (
    typeof attribution.ref_price !== 'number' && (await tradesOf(log, attribution.signal_id)).length === 0
  )
}

const wasCounted = async (log: EventLog, signalId: string, caller: string): Promise<boolean> => {
  const search = { type: 'learning.feedback.v1', order: 'desc', wantedMax: 1 } as const
  const found = await searchAbout(
    log,
    signalId,
    search,
    ({ counted, submitted_by }) => counted === true && submitted_by === caller,
  )
  return found.length > 0
}
