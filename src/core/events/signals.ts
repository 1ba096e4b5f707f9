import { z } from 'zod'
import {
  branded,
  type CallId,
  type CanonicalSymbol,
  type ContributorId,
  type NodeId,
  type PositionId,
  type SessionId,
  type SignalId,
  type Timestamp,
} from '../shared/brand.ts'
import { HORIZONS } from '../shared/time.ts'
import { DIRECTIONS } from '../signal-types/declare.ts'
import type { JsonObject } from '../shared/json.ts'

const numberOrNull = z.number().nullable()
const horizon = z.enum(HORIZONS)

export const attributionEvents = {
  /** Author of a signal, and the call that the signal makes. Contributor members are null for producers. */
  'attribution.recorded.v1': z.object({
    signal_id: branded<SignalId>(),
    contributor_id: branded<ContributorId>().nullable(),
    node_id: branded<NodeId>().nullable(),
    producer_id: z.string(),
    received_at: branded<Timestamp>(),
    symbol: branded<CanonicalSymbol>().nullable(),
    direction: z.enum(DIRECTIONS).nullable(),
    /** Strength that the signal states. */
    score: numberOrNull,
    /** Probability that the author assigns to the direction. */
    probability: z.number().nullish(),
    /** The call that the signal opens or joins; null if it makes none. */
    call_id: branded<CallId>().nullish(),
    horizon: horizon.nullish(),
    due_at: branded<Timestamp>().nullish(),
    /** The price when the call was opened; null if there was no recent one. */
    ref_price: z.number().nullish(),
    /** Usual price move within the horizon, as a fraction of the price. */
    ref_sigma: z.number().nullish(),
    /** Signature of a contributor with a public key, over `submissionText`. Any reader of the log can verify it. */
    signature: z.string().optional(),
  }),
  /**
   * Price move within the horizon of a call that was traded on. Authors are judged by the price move, not by the trade.
   */
  'attribution.measured.v1': z.object({
    call_id: branded<CallId>(),
    producer_id: z.string(),
    contributor_id: branded<ContributorId>().nullable(),
    symbol: branded<CanonicalSymbol>(),
    direction: z.enum(DIRECTIONS),
    horizon,
    due_at: branded<Timestamp>(),
    ref_price: numberOrNull,
    exit_price: numberOrNull,
    return_pct: numberOrNull,
    band_pct: numberOrNull,
    hit: z.boolean().nullable(),
    base_rate: numberOrNull,
    void_reason: z.enum(['no_price', 'no_bar']).nullable(),
  }),
  /** Result of a call, once per call. `hit` is null for a void call. */
  'attribution.resolved.v1': z.object({
    call_id: branded<CallId>(),
    /** The first and the latest signals of the call. */
    signal_ids: z.array(branded<SignalId>()),
    producer_id: z.string(),
    contributor_id: branded<ContributorId>().nullable(),
    symbol: branded<CanonicalSymbol>(),
    direction: z.enum(DIRECTIONS),
    resolved_by: z.enum(['horizon', 'trade']),
    /** The last position that closed. */
    position_id: branded<PositionId>().nullable(),
    ref_price: numberOrNull,
    exit_price: numberOrNull,
    /** Return of the price. For trades: net profit divided by the capital that they were entered with. */
    return_pct: numberOrNull,
    /** Half width of the flat band. Smaller moves count as flat. */
    band_pct: numberOrNull,
    hit: z.boolean().nullable(),
    /** Hit rate of such calls without any skill, before this one. */
    base_rate: numberOrNull,
    void_reason: z.enum(['no_price', 'no_bar']).nullable(),
    horizon,
    opened_at: branded<Timestamp>(),
    due_at: branded<Timestamp>(),
    probability: z.number(),
  }),
} as const

export const contributorEvents = {
  'contributor.registered.v1': z.object({
    contributor_id: branded<ContributorId>(),
    node_id: branded<NodeId>(),
    name: z.string(),
    role: z.string(),
    /** Ed25519 key, 64 hex digits. From this event on, submissions of this contributor must be signed with it. */
    public_key: z.string().optional(),
    metadata: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null),
  }),
  'contributor.removed.v1': z.object({
    contributor_id: branded<ContributorId>(),
    node_id: branded<NodeId>(),
  }),
} as const

export const PRODUCER_HEALTHS = ['unknown', 'ok', 'degraded', 'stale', 'error', 'quarantined'] as const

export const producerEvents = {
  'producer.registered.v1': z.object({
    name: z.string(),
    domain: z.string(),
    endpoint: z.string(),
    schedule: z.string(),
  }),
  'producer.removed.v1': z.object({ name: z.string() }),
  'producer.run.v1': z.object({
    name: z.string(),
    health: z.enum(PRODUCER_HEALTHS),
    prev_health: z.enum(PRODUCER_HEALTHS),
    events_published: z.int(),
    duration_ms: z.number(),
    error: z.string().nullable(),
    consecutive_failures: z.int(),
    quarantined_until: branded<Timestamp>().nullable(),
    rejected: z.array(z.object({ index: z.int(), reason: z.string() })),
  }),
} as const

export const traceEvents = {
  'trace.session_opened.v1': z.object({
    session_id: branded<SessionId>(),
    label: z.string(),
    agent: z.string().nullable(),
    /** Absent in events of earlier releases. */
    owner: z.string().optional(),
  }),
  'trace.session_appended.v1': z.object({ session_id: branded<SessionId>(), trace_id: z.string() }),
  'trace.session_closed.v1': z.object({ session_id: branded<SessionId>() }),
} as const
