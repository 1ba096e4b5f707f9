import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../vocabulary/decision.ts'

type FeedbackPayload = PayloadOf<'learning.feedback.v1'>

/** The newest word on a signal, as far as it counts. */
export interface Judgement {
  readonly signalId: string
  readonly signalType: string
  readonly score: number | null
  readonly outcome: NonNullable<FeedbackPayload['outcome']>
  readonly at: string
}

/** By producer, newest last. */
export type Judgements = PersistentMap<string, readonly Judgement[]>

export const INITIAL_JUDGEMENTS: Judgements = PersistentMap()

/** So many signals of one producer are reported on; older ones fall out. */
export const JUDGEMENTS_KEPT = 1000

export const recordFeedback = (feedback: FeedbackPayload): Decision =>
  accept({ type: 'learning.feedback.v1', source: 'api', payload: feedback })

export const evolveJudgements = (judgements: Judgements, event: KnownEvent): Judgements => {
  if (event.type !== 'learning.feedback.v1') return judgements
  const { producer_id, signal_id: signalId, signal_type: signalType, outcome, score, matched } = event.payload
  if (!matched || signalId === null || signalType === null || outcome === null) return judgements
  const judgement = { signalId, signalType, score, outcome, at: event.ts }
  return judgements.update(producer_id, [], (known) =>
    [...known.filter((earlier) => earlier.signalId !== signalId), judgement].slice(-JUDGEMENTS_KEPT),
  )
}
