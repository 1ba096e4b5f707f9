import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'

type FeedbackPayload = PayloadOf<'learning.feedback.v1'>

/** The newest word on a signal, as far as it counts. */
export interface Judgement {
  readonly signalId: string
  readonly signalType: string
  readonly score: number | null
  readonly outcome: NonNullable<FeedbackPayload['outcome']>
  readonly at: string
  /** Callers whose word on it was taken as evidence. */
  readonly countedBy: readonly string[]
}

/** By producer, newest last. */
export type FeedbackLedger = PersistentMap<string, readonly Judgement[]>

export const INITIAL_FEEDBACK: FeedbackLedger = PersistentMap()

/** So many signals of one producer are reported on; older ones fall out. */
export const JUDGEMENTS_KEPT = 1000

/** What the log says of a signal that feedback is about. */
export interface FeedbackStatus {
  /** The market gave no answer, and never will. */
  readonly isVoid: boolean
  /** This caller's word on it was taken as evidence before. */
  readonly isRepeated: boolean
}

/** Evidence once per signal and caller, and only where the market is silent; else it is only kept. */
export const recordFeedback = (
  judgements: FeedbackLedger,
  feedback: Omit<FeedbackPayload, 'counted' | 'weight'>,
  { isVoid, isRepeated }: FeedbackStatus,
  { feedback_weight: weight }: { readonly feedback_weight: number },
): Decision => {
  const { matched, outcome, producer_id: producerId, signal_id: signalId, submitted_by: caller } = feedback
  // Two words at the same time: the log may not have the first one yet.
  const isKnown = judgements
    .get(producerId)
    ?.some((earlier) => earlier.signalId === signalId && earlier.countedBy.includes(caller))
  const isVerdict = outcome === 'profit' || outcome === 'loss'
  const counted = matched && isVerdict && isVoid && !isRepeated && isKnown !== true
  return accept({
    type: 'learning.feedback.v1',
    source: 'api',
    payload: { ...feedback, counted, weight: counted ? weight : 0 },
  })
}

export const evolveFeedback = (judgements: FeedbackLedger, event: KnownEvent): FeedbackLedger => {
  if (event.type !== 'learning.feedback.v1') return judgements
  const { producer_id, signal_id: signalId, signal_type: signalType, outcome, score, matched } = event.payload
  if (!matched || signalId === null || signalType === null || outcome === null) return judgements
  const { counted, submitted_by: caller } = event.payload
  return judgements.update(producer_id, [], (known) => {
    const before = known.find((earlier) => earlier.signalId === signalId)?.countedBy ?? []
    const countedBy = counted === true ? [...before, caller] : before
    const judgement = { signalId, signalType, score, outcome, at: event.ts, countedBy }
    return [...known.filter((earlier) => earlier.signalId !== signalId), judgement].slice(-JUDGEMENTS_KEPT)
  })
}
