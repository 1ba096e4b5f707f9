import {
  contributorId as contributorIdOf,
  signalId,
  type ContributorId,
  type NodeId,
  type SignalId,
  type Timestamp,
} from '../shared/brand.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { scopedKey } from './dedupe-keys.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { domainOfType, weightedTypeOf } from '../signal-types/all.ts'
import { accept, type Decision, refuse } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import type { JsonObject } from '../shared/json.ts'
import { signatureRefusal } from './signed-submissions.ts'
import { canonicalSymbol } from '../shared/symbol.ts'
import { DIRECTIONS } from '../signal-types/declare.ts'

export interface Submission {
  readonly eventType: string
  readonly nodeId: NodeId
  readonly ts: Timestamp | null
  readonly source: string | null
  readonly payload: JsonObject
  readonly dedupeKey: string | null
  /** Signature over `submissionText`, 128 hex digits. */
  readonly signature?: string | undefined
}

export interface Emission {
  readonly producerId: string
  readonly type: string
  readonly payload: JsonObject
  readonly ts: Timestamp | null
  readonly dedupeKey: string | null
  /** Signature of a contributor over the `submissionText` of the same submission. */
  readonly signature?: string | undefined
}

/** The contributor behind a signal. */
export interface SignalContributor {
  readonly contributorId: ContributorId
  readonly nodeId: NodeId
  /** Null for a contributor that does not sign. */
  readonly publicKey: string | null
}

/** A signal that is about to be stored. */
export interface NewSignal {
  readonly signalId: SignalId
  readonly type: string
  readonly payload: JsonObject
  readonly contributorId: ContributorId | null
  readonly producerId: string
  /** Time from which its call runs. */
  readonly at: Timestamp
}

/** The call that a signal makes. Without a call, all members except the direction are null. */
export type CallMade = Pick<
  Required<PayloadOf<'attribution.recorded.v1'>>,
  'direction' | 'probability' | 'call_id' | 'horizon' | 'due_at' | 'ref_price' | 'ref_sigma'
>

export type CallOf = (signal: NewSignal) => CallMade

type SignalContext = Pick<DecisionContext, 'now' | 'newId' | 'configuration' | 'isSigned'> & {
  readonly callOf: CallOf
}

/** Stores the signal of a contributor and its attribution. */
export const submitSignal = (
  submission: Submission,
  contributor: SignalContributor | null,
  isReserved: (source: string) => boolean,
  context: SignalContext,
): Decision => {
  const { eventType, nodeId } = submission
  if (eventType !== CURATOR_TYPE) {
    return refuse('signal.invalid_type', `event_type must be ${CURATOR_TYPE}`, { event_type: eventType })
  }
  if (contributor === null) {
    return refuse('contributor.not_found', `no contributor has node_id ${nodeId}`, { node_id: nodeId })
  }
  const source = sourceOf(submission.source) ?? nodeId
  if (isReserved(source)) {
    return refuse('signal.source_reserved', `the source ${source} is the name of another author`, { source })
  }
  return signalOfContributor(submission, { ...contributor, source }, submissionKey, context)
}

/**
 * A submission and an emission of a contributor with a key are the same request, so they also share the idempotency
 * key.
 */
const signalOfContributor = (
  { ts, payload, dedupeKey, signature }: Pick<Submission, 'ts' | 'payload' | 'dedupeKey' | 'signature'>,
  { contributorId, nodeId, publicKey, source }: SignalContributor & { readonly source: string },
  keyOf: (contributorId: ContributorId, key: string) => string,
  context: SignalContext,
): Decision => {
  const claimed = { contributorId, nodeId, eventType: CURATOR_TYPE, ts, source, dedupeKey, payload }
  const refusal = signatureRefusal(claimed, publicKey, signature, context)
  if (refusal !== null) return refusal
  return attributed(
    {
      type: CURATOR_TYPE,
      source,
      ts: ts ?? context.now,
      payload,
      dedupeKey: dedupeKey === null ? null : keyOf(contributorId, dedupeKey),
    },
    { contributorId, nodeId, signature },
    nodeId,
    context,
  )
}

/** A blank source counts as none. */
const sourceOf = (source: string | null): string | null => {
  const trimmed = source?.trim() ?? ''
  return trimmed === '' ? null : trimmed
}

/** Author of an emission. */
export type Emitter =
  | { readonly kind: 'built-in'; readonly domain: string }
  | { readonly kind: 'producer'; readonly domain: string }
  | { readonly kind: 'contributor'; readonly contributor: SignalContributor }
  | { readonly kind: 'unknown' }

/** Accepts a signal from outside the process, which cannot submit as a built-in producer. */
export const emitSignal = (emission: Emission, emitter: Emitter, context: SignalContext): Decision => {
  const { producerId, type, dedupeKey } = emission
  const emissionKey = (_: unknown, key: string): string => scopedKey('emit', producerId, key)
  switch (emitter.kind) {
    case 'unknown':
      return refuse('producer.not_found', `no producer or contributor is named ${producerId}`, {
        name: producerId,
      })
    case 'built-in':
      return refuse('producer.reserved', `${producerId} is built in and emits only from inside the service`, {
        name: producerId,
      })
    case 'contributor': {
      const { contributor } = emitter
      if (type !== CURATOR_TYPE) return notAllowed(producerId, type)
      const author = { ...contributor, source: producerId }
      const keyOf = contributor.publicKey === null ? emissionKey : submissionKey
      return signalOfContributor(emission, author, keyOf, context)
    }
    case 'producer': {
      if (emission.signature !== undefined) {
        const detail = `producer ${producerId} has no public key to check a signature with`
        return refuse('contributor.signature_invalid', detail, { node_id: producerId })
      }
      if (!mayEmit(emitter.domain, type)) return notAllowed(producerId, type)
      const key = dedupeKey === null ? null : emissionKey(null, dedupeKey)
      return signalOfProducer({ ...emission, dedupeKey: key }, context)
    }
  }
}

/**
 * Whether a producer may emit this type. Curator signals come from contributors. Producers measure, each in its domain.
 */
export const mayEmit = (domain: string, type: string): boolean =>
  type !== CURATOR_TYPE && domainOfType(type) === domain

const notAllowed = (producerId: string, type: string): Decision =>
  refuse('signal.type_not_allowed', `${producerId} may not emit ${type}`, { signal_type: type })

/** Stores the signal of a producer. Only weighted types are attributed, because other types make no calls. */
export const signalOfProducer = (
  { producerId, type, payload, ts, dedupeKey }: Omit<Emission, 'signature'>,
  context: SignalContext,
): Decision => {
  const signal = { type, source: producerId, ts: ts ?? context.now, payload, dedupeKey }
  return weightedTypeOf(type) === undefined
    ? accept(eventOf(signal, context.newId()))
    : attributed(signal, null, producerId, context)
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
  contributor: (Omit<SignalContributor, 'publicKey'> & { readonly signature: string | undefined }) | null,
  producerId: string,
  { now, newId, callOf }: SignalContext,
): Decision => {
  const id = signalId(newId())
  const { type, payload } = signal
  const contributorId = contributor?.contributorId ?? null
  const made = { signalId: id, type, payload, contributorId, producerId, at: now }
  return accept(eventOf(signal, id), {
    type: 'attribution.recorded.v1',
    source: signal.source,
    payload: attributionOf(made, callOf(made), contributor),
  })
}

/** Author of a signal, and the call that it makes. */
const attributionOf = (
  { signalId: signal_id, payload, contributorId, producerId, at }: NewSignal,
  call: CallMade,
  contributor: { readonly nodeId: NodeId; readonly signature: string | undefined } | null,
): PayloadOf<'attribution.recorded.v1'> => {
  const { symbol } = payload
  const signature = contributor?.signature
  // Members in canonical order are serialised several times faster.
  return {
    call_id: call.call_id,
    contributor_id: contributorId,
    direction: call.direction,
    due_at: call.due_at,
    horizon: call.horizon,
    node_id: contributor?.nodeId ?? null,
    probability: call.probability,
    producer_id: producerId,
    received_at: at,
    ref_price: call.ref_price,
    ref_sigma: call.ref_sigma,
    score: scoreOf(payload),
    signal_id,
    ...(signature === undefined ? {} : { signature }),
    symbol: typeof symbol === 'string' ? canonicalSymbol(symbol) : null,
  }
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
export const submissionKey = (contributorId: ContributorId, key: string): string =>
  `submit:${contributorId}:${key}`

/** The contributor of a submission key; null for other keys. */
export const contributorOfKey = (dedupeKey: string | null): ContributorId | null => {
  const id = /^submit:([^:]+):/.exec(dedupeKey ?? '')?.[1]
  return id === undefined ? null : contributorIdOf(id)
}

type SignalDirection = (typeof DIRECTIONS)[number]

/** Strength that a signal states: the first of these members that is a number. */
export const scoreOf = (payload: JsonObject): number | null => {
  for (const member of ['conviction', 'score', 'consensus_score', 'magnitude']) {
    const value = payload[member]
    if (typeof value === 'number') return value
  }
  return null
}

/** Direction that a signal states. A direction that follows from its numbers is evidence instead. */
export const directionOf = (payload: JsonObject): SignalDirection | null =>
  DIRECTIONS.find((direction) => direction === payload['direction']) ?? null
