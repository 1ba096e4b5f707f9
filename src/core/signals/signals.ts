import type { PayloadOf } from '../events/catalogue.ts'
import { CURATOR_TYPE, SIGNALS } from '../events/signal.ts'
import { accept, refuse, type Decision } from '../shared/decision.ts'
import type { JsonObject } from '../shared/json.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { scoreOf } from './reading.ts'
import { submissionKey } from './submission-key.ts'

export interface Submission {
  readonly eventType: string
  readonly nodeId: string
  readonly ts: string | null
  readonly source: string | null
  readonly payload: JsonObject
  readonly dedupeKey: string | null
}

export interface Emission {
  readonly producerId: string
  readonly type: string
  readonly payload: JsonObject
  readonly ts: string | null
  readonly dedupeKey: string | null
}

/** The contributor behind a signal, as far as this room may see it. */
export interface Author {
  readonly contributorId: string
  readonly nodeId: string
}

/** A signal about to be stored. */
export interface SaidSignal {
  readonly signalId: string
  readonly type: string
  readonly payload: JsonObject
  readonly contributorId: string | null
  readonly producerId: string
}

/** The call that a signal makes; without one all but the direction is null. */
export type CallMade = Pick<
  Required<PayloadOf<'attribution.recorded.v1'>>,
  'direction' | 'probability' | 'call_id' | 'horizon' | 'due_at' | 'ref_price' | 'ref_sigma'
>

export type CallOf = (said: SaidSignal) => CallMade

interface DecisionContext {
  readonly now: string
  readonly newId: () => string
  readonly callOf: CallOf
}

/** A contributor speaks: the signal and who is behind it, as one. */
export const submitSignal = (
  submission: Submission,
  author: Author | null,
  moment: DecisionContext,
): Decision => {
  const { eventType, nodeId, dedupeKey } = submission
  if (eventType !== CURATOR_TYPE) {
    return refuse('signal.invalid_type', `event_type must be ${CURATOR_TYPE}`, { event_type: eventType })
  }
  if (author === null) {
    return refuse('contributor.not_found', `no contributor has node_id ${nodeId}`, { node_id: nodeId })
  }
  return attributed(
    {
      type: CURATOR_TYPE,
      source: spoken(submission.source) ?? nodeId,
      ts: submission.ts ?? moment.now,
      payload: submission.payload,
      dedupeKey: dedupeKey === null ? null : submissionKey(author.contributorId, dedupeKey),
    },
    author,
    nodeId,
    moment,
  )
}

/** A blank source says nothing. */
const spoken = (source: string | null): string | null => {
  const trimmed = source?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}

/** Who stands behind an emission. */
export type Speaker =
  | { readonly kind: 'producer' }
  | { readonly kind: 'contributor'; readonly author: Author }
  | { readonly kind: 'stranger' }

/** A producer speaks. Only types that carry weight are attributed: nothing else is ever settled. */
export const emitSignal = (emission: Emission, speaker: Speaker, moment: DecisionContext): Decision => {
  const { producerId, type, dedupeKey } = emission
  if (speaker.kind === 'stranger') {
    return refuse('producer.not_found', `nobody is known as ${producerId}`, { name: producerId })
  }
  // Opinions are for people who stand behind them, measurements for producers.
  if ((speaker.kind === 'contributor') !== (type === CURATOR_TYPE)) {
    return refuse('signal.type_not_allowed', `${producerId} may not emit ${type}`, { signal_type: type })
  }
  const signal = {
    type,
    source: producerId,
    ts: emission.ts ?? moment.now,
    payload: emission.payload,
    dedupeKey: dedupeKey === null ? null : `emit:${producerId}:${dedupeKey}`,
  }
  const author = speaker.kind === 'contributor' ? speaker.author : null
  const carriesWeight = (SIGNALS[type]?.domain ?? null) !== null
  return carriesWeight
    ? attributed(signal, author, producerId, moment)
    : accept(eventOf(signal, moment.newId()))
}

interface Spoken {
  readonly type: string
  readonly source: string
  readonly ts: string
  readonly payload: JsonObject
  readonly dedupeKey: string | null
}

const attributed = (
  words: Spoken,
  author: Author | null,
  producerId: string,
  { now, newId, callOf }: DecisionContext,
): Decision => {
  const id = newId()
  const { type, payload } = words
  const { symbol } = payload
  const contributorId = author?.contributorId ?? null
  const call = callOf({ signalId: id, type, payload, contributorId, producerId })
  return accept(eventOf(words, id), {
    type: 'attribution.recorded.v1',
    source: words.source,
    // In the order of canonical JSON: what stands in order is written several times as fast.
    payload: {
      call_id: call.call_id,
      contributor_id: contributorId,
      direction: call.direction,
      due_at: call.due_at,
      horizon: call.horizon,
      node_id: author?.nodeId ?? null,
      probability: call.probability,
      producer_id: producerId,
      received_at: now,
      ref_price: call.ref_price,
      ref_sigma: call.ref_sigma,
      score: scoreOf(payload),
      signal_id: id,
      symbol: typeof symbol === 'string' ? canonicalSymbol(symbol) : null,
    },
  })
}

const eventOf = ({ type, source, ts, payload, dedupeKey }: Spoken, id: string) => ({
  type: type as `signal.${string}`,
  id,
  source,
  ts,
  payload,
  ...(dedupeKey === null ? {} : { dedupeKey }),
})
