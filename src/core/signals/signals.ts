import {
  contributorId as contributorIdOf,
  signalId,
  type ContributorId,
  type NodeId,
  type SignalId,
  type Timestamp,
} from '../shared/brand.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { weightedTypeOf } from '../signal-types/all.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import type { JsonObject } from '../shared/json.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { DIRECTIONS } from '../signal-types/declare.ts'

export interface Submission {
  readonly eventType: string
  readonly nodeId: NodeId
  readonly ts: Timestamp | null
  readonly source: string | null
  readonly payload: JsonObject
  readonly dedupeKey: string | null
}

export interface Emission {
  readonly producerId: string
  readonly type: string
  readonly payload: JsonObject
  readonly ts: Timestamp | null
  readonly dedupeKey: string | null
}

/** The contributor behind a signal. */
export interface SignalContributor {
  readonly contributorId: ContributorId
  readonly nodeId: NodeId
}

/** A signal about to be stored. */
export interface NewSignal {
  readonly signalId: SignalId
  readonly type: string
  readonly payload: JsonObject
  readonly contributorId: ContributorId | null
  readonly producerId: string
}

/** The call that a signal makes; without one all but the direction is null. */
export type CallMade = Pick<
  Required<PayloadOf<'attribution.recorded.v1'>>,
  'direction' | 'probability' | 'call_id' | 'horizon' | 'due_at' | 'ref_price' | 'ref_sigma'
>

export type CallOf = (signal: NewSignal) => CallMade

interface SignalContext {
  readonly now: Timestamp
  readonly newId: () => string
  readonly callOf: CallOf
}

/** The signal of a contributor, and the attribution to them. */
export const submitSignal = (
  submission: Submission,
  contributor: SignalContributor | null,
  context: SignalContext,
): Decision => {
  const { eventType, nodeId, dedupeKey } = submission
  if (eventType !== CURATOR_TYPE) {
    return refuse('signal.invalid_type', `event_type must be ${CURATOR_TYPE}`, { event_type: eventType })
  }
  if (contributor === null) {
    return refuse('contributor.not_found', `no contributor has node_id ${nodeId}`, { node_id: nodeId })
  }
  return attributed(
    {
      type: CURATOR_TYPE,
      source: sourceOf(submission.source) ?? nodeId,
      ts: submission.ts ?? context.now,
      payload: submission.payload,
      dedupeKey: dedupeKey === null ? null : submissionKey(contributor.contributorId, dedupeKey),
    },
    contributor,
    nodeId,
    context,
  )
}

/** A blank source counts as none. */
const sourceOf = (source: string | null): string | null => {
  const trimmed = source?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}

/** Who emits. */
export type Emitter =
  | { readonly kind: 'producer' }
  | { readonly kind: 'contributor'; readonly contributor: SignalContributor }
  | { readonly kind: 'unknown' }

/** Only weighted types are attributed: other types make no calls. */
export const emitSignal = (emission: Emission, emitter: Emitter, context: SignalContext): Decision => {
  const { producerId, type, dedupeKey } = emission
  if (emitter.kind === 'unknown') {
    return refuse('producer.not_found', `no producer or contributor is named ${producerId}`, {
      name: producerId,
    })
  }
  // Curator signals come from contributors, measurements from producers.
  if ((emitter.kind === 'contributor') !== (type === CURATOR_TYPE)) {
    return refuse('signal.type_not_allowed', `${producerId} may not emit ${type}`, { signal_type: type })
  }
  const signal = {
    type,
    source: producerId,
    ts: emission.ts ?? context.now,
    payload: emission.payload,
    dedupeKey: dedupeKey === null ? null : `emit:${producerId}:${dedupeKey}`,
  }
  const contributor = emitter.kind === 'contributor' ? emitter.contributor : null
  const carriesWeight = weightedTypeOf(type) !== undefined
  return carriesWeight
    ? attributed(signal, contributor, producerId, context)
    : accept(eventOf(signal, context.newId()))
}

interface SignalFields {
  readonly type: string
  readonly source: string
  readonly ts: Timestamp
  readonly payload: JsonObject
  readonly dedupeKey: string | null
}

const attributed = (
  signal: SignalFields,
  contributor: SignalContributor | null,
  producerId: string,
  { now, newId, callOf }: SignalContext,
): Decision => {
  const id = signalId(newId())
  const { type, payload } = signal
  const { symbol } = payload
  const contributorId = contributor?.contributorId ?? null
  const call = callOf({ signalId: id, type, payload, contributorId, producerId })
  return accept(eventOf(signal, id), {
    type: 'attribution.recorded.v1',
    source: signal.source,
    // Members in canonical order serialise several times faster.
    payload: {
      call_id: call.call_id,
      contributor_id: contributorId,
      direction: call.direction,
      due_at: call.due_at,
      horizon: call.horizon,
      node_id: contributor?.nodeId ?? null,
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

const eventOf = ({ type, source, ts, payload, dedupeKey }: SignalFields, id: string) => ({
  type: type as `signal.${string}`,
  id,
  source,
  ts,
  payload,
  ...(dedupeKey === null ? {} : { dedupeKey }),
})

/** Idempotency keys are scoped to the contributor. */
const submissionKey = (contributorId: ContributorId, key: string): string => `submit:${contributorId}:${key}`

/** The contributor of a submission key; null for other keys. */
export const contributorOfKey = (dedupeKey: string | null): ContributorId | null => {
  const id = /^submit:([^:]+):/.exec(dedupeKey ?? '')?.[1]
  return id === undefined ? null : contributorIdOf(id)
}

type Direction = (typeof DIRECTIONS)[number]

/** The strength a signal states for itself: the first of these members that is a number. */
export const scoreOf = (payload: JsonObject): number | null => {
  for (const member of ['conviction', 'score', 'consensus_score', 'magnitude']) {
    const value = payload[member]
    if (typeof value === 'number') return value
  }
  return null
}

/** The direction a signal states. What its numbers imply is evidence. */
export const directionOf = (payload: JsonObject): Direction | null =>
  DIRECTIONS.find((direction) => direction === payload['direction']) ?? null
