import { isBuiltin } from '../../core/producers/producers.ts'
import type { PayloadOf } from '../../core/events/catalogue.ts'
import { sourceRef } from '../../core/log/refs.ts'
import { scoreOf } from '../../core/signals/reading.ts'
import type { State } from '../../core/state.ts'
import { isPlainText } from '../../core/vocabulary/text.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { originOf } from './attribution.ts'

/** What an agent says of a producer's signal. */
export interface Feedback {
  readonly signalId: string | null
  readonly outcome: PayloadOf<'learning.feedback.v1'>['outcome']
  readonly pnl: number | null
  readonly note: string | null
}

/** Whether anybody can be meant: registered, built-in, a contributor who spoke, or the source of a stored signal. */
export const isKnownProducer = async (log: EventLog, state: State, id: string): Promise<boolean> => {
  if (isBuiltin(id) || state.producers.registered.has(id) || state.trails.byNode.has(id)) return true
  if (!isPlainText(id)) return false
  const signals = await log.read({ about: sourceRef(id), order: 'desc', limit: 1 })
  return signals.length > 0
}

/** The feedback as it is recorded: with the signal it is about, if that is one of this producer. */
export const matchedFeedback = async (
  log: EventLog,
  producerId: string,
  { signalId, outcome, pnl, note }: Feedback,
  submittedBy: string,
): Promise<PayloadOf<'learning.feedback.v1'>> => {
  const origin = signalId === null ? null : await originOf(log, signalId)
  const signal = origin?.producerId === producerId ? origin.signal : null
  return {
    producer_id: producerId,
    signal_id: signalId,
    outcome,
    pnl,
    note,
    matched: signal !== null,
    signal_type: signal?.type ?? null,
    score: signal === null ? null : scoreOf(signal.payload),
    submitted_by: submittedBy,
  }
}
