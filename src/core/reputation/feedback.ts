import type { SignalId, Timestamp } from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, NewPayload, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'

type FeedbackPayload = PayloadOf<'learning.feedback.v1'>

/** The latest feedback with an outcome on one signal. */
export interface FeedbackEntry {
  readonly signalId: SignalId
  readonly signalType: string
  readonly score: number | null
  readonly outcome: NonNullable<FeedbackPayload['outcome']>
  readonly at: Timestamp
  /** Callers whose feedback on the signal was counted. */
  readonly countedBy: readonly string[]
}

/** Feedback by producer, latest entries last. */
export type FeedbackLedger = PersistentMap<string, readonly FeedbackEntry[]>

export const INITIAL_FEEDBACK: FeedbackLedger = PersistentMap()

/** Limit per producer. Older entries are dropped. */
export const FEEDBACK_KEPT = 1000

/** Facts of the log about the signal of a feedback. */
export interface FeedbackStatus {
  /** True if the call of the signal is void, so that the market will not decide it. */
  readonly isVoid: boolean
  /** True if feedback of this caller on the signal was counted before. */
  readonly isRepeated: boolean
}

/** Counts once per signal and caller, and only for void calls; otherwise it is only recorded. */
export const recordFeedback = (
  ledger: FeedbackLedger,
  feedback: Omit<NewPayload<'learning.feedback.v1'>, 'counted' | 'weight'>,
  { isVoid, isRepeated }: FeedbackStatus,
  { feedback_weight: weight }: { readonly feedback_weight: number },
): Decision => {
  const { matched, outcome, producer_id: producerId, signal_id: signalId, submitted_by: caller } = feedback
  // For concurrent feedback, the log may have been read before the first one was stored.
  const isKnown = ledger
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

export const evolveFeedback = (ledger: FeedbackLedger, event: KnownEvent): FeedbackLedger => {
  if (event.type !== 'learning.feedback.v1') return ledger
  const { producer_id, signal_id: signalId, signal_type: signalType, outcome, score, matched } = event.payload
  if (!matched || signalId === null || signalType === null || outcome === null) return ledger
  const { counted, submitted_by: caller } = event.payload
  return ledger.update(producer_id, [], (known) => {
    const before = known.find((earlier) => earlier.signalId === signalId)?.countedBy ?? []
    const countedBy = counted === true ? [...before, caller] : before
    const entry = { signalId, signalType, score, outcome, at: event.ts, countedBy }
    return [...known.filter((earlier) => earlier.signalId !== signalId), entry].slice(-FEEDBACK_KEPT)
  })
}
