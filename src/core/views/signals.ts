import { z } from 'zod'
import type { LogRecord, Stamped } from '../log/event.ts'
import { contributorView } from './contributors.ts'
import { eventRecordView, payloadText, shownPayload } from './log.ts'
import { numberOrNull, picked, shown, textOrNull } from './members.ts'
import { contributorOfKey, scoreOf } from '../signals/signals.ts'
import { assert } from '../shared/assert.ts'
import type { Contributors } from '../signals/contributors.ts'
import { FEEDBACK_OUTCOMES } from '../events/brain.ts'
import { DIRECTIONS } from '../signal-types/declare.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import { sumOf, usdFrom, usdNumber } from '../shared/money.ts'

export const signalItemView = eventRecordView.pick({
  id: true,
  type: true,
  ts: true,
  source: true,
  payload: true,
})

const showSignal = shown(signalItemView)

export const viewSignalItem = (record: LogRecord): z.infer<typeof signalItemView> =>
  showSignal({ ...record, payload: shownPayload(record) })

/** The signal as JSON text. */
export const signalItemText = (record: LogRecord): string =>
  `{"id":${JSON.stringify(record.id)},"type":${JSON.stringify(record.type)},"ts":${JSON.stringify(record.ts)}` +
  `,"source":${JSON.stringify(record.source)},"payload":${payloadText(record)}}`

export const submissionView = z.object({ event_id: z.string(), contributor_id: z.string() })

/** Ids of the events that a submission stored, now or when it was first sent. */
export const viewSubmission = (events: readonly Stamped[]): z.infer<typeof submissionView> => {
  const [signal, attribution] = events
  assert(signal !== undefined, 'a submission stores a signal')
  // A repeated submission returns only its signal, whose key contains the contributor.
  const contributorId = attribution?.payload['contributor_id'] ?? contributorOfKey(signal.dedupeKey)
  assert(typeof contributorId === 'string', 'a submission is attributed')
  return { event_id: signal.id, contributor_id: contributorId }
}

const whatThePriceDid = {
  exit_price: numberOrNull,
  return_pct: numberOrNull,
  band_pct: numberOrNull,
  hit: z.boolean().nullable(),
  base_rate: numberOrNull,
  void_reason: textOrNull,
}

const callMeasure = z.object({ at: z.string(), ...whatThePriceDid })

const signalCall = z.object({
  call_id: z.string(),
  symbol: textOrNull,
  direction: z.enum(DIRECTIONS).nullable(),
  probability: numberOrNull,
  horizon: textOrNull,
  due_at: textOrNull,
  ref_price: numberOrNull,
  ref_sigma: numberOrNull,
  status: z.enum(['open', 'resolved', 'void']),
  resolved_at: textOrNull,
  resolved_by: z.enum(['horizon', 'trade']).nullable(),
  ...whatThePriceDid,
  measured: callMeasure.nullable().meta({
    description:
      'what the price did within its horizon although it was traded on: that is what karma counts; else null',
  }),
})

const signalUse = z.object({
  cycle_id: z.string(),
  conviction_id: z.string(),
  at: z.string(),
  symbol: z.string(),
  action: z.string(),
  share: z.number(),
  quality: z.number(),
  evidence: z.number(),
  contribution: z.number(),
})

const signalTrade = z.object({
  position_id: z.string(),
  intent_id: textOrNull,
  direction: textOrNull,
  weight: numberOrNull.meta({ description: 'its part in the intent; all parts add up to 1' }),
  opened_at: z.string(),
  closed_at: textOrNull,
  pnl: numberOrNull,
  exit_reason: textOrNull,
})

const author = contributorView.pick({ id: true, node_id: true, name: true, role: true })

export const attributionView = z.object({
  signal_id: z.string(),
  type: z.string(),
  domain: z.string(),
  source: z.string().nullable(),
  producer_id: z.string().nullable(),
  contributor_id: z.string().nullable(),
  contributor: author.nullable().meta({ description: 'kept after the contributor was removed' }),
  score: z.number().nullable(),
  emitted_at: z.string(),
  received_at: z.string(),
  accepted: z.boolean().meta({ description: 'a brain cycle used it' }),
  linked_trade_ids: z.array(z.string()).meta({ description: 'positions whose intent used the signal' }),
  outcome: z
    .object({ pnl: z.number(), realized_at: z.string() })
    .nullable()
    .meta({ description: 'null until all linked positions are closed' }),
  feedback: z
    .object({ outcome: z.enum(FEEDBACK_OUTCOMES), pnl: z.number().nullable(), at: z.string() })
    .nullable()
    .meta({ description: 'the newest one that states an outcome' }),
  call: signalCall.nullable().meta({
    description: 'what it says a symbol will do, and what the market answered; null if it says nothing',
  }),
  uses: z.array(signalUse).meta({ description: 'cycles in which it had a share, oldest first, up to 100' }),
  trades: z.array(signalTrade).meta({ description: 'positions whose intent used it, oldest first' }),
})

export type AttributionView = z.infer<typeof attributionView>

/** Events about a signal after it was stored. */
interface Aftermath {
  readonly attribution: PayloadOf<'attribution.recorded.v1'> | null
  readonly verdict: ResolvedCall | null
  readonly measure: MeasuredCall | null
  readonly uses: AttributionView['uses']
  readonly trades: AttributionView['trades']
  readonly feedback: AttributionView['feedback']
}

export const viewAttribution = (
  signal: Stamped,
  { attribution, verdict, measure, uses, trades, feedback }: Aftermath,
  contributors: Contributors,
): AttributionView => {
  const contributorId = attribution?.contributor_id ?? null
  const contributor = contributorId === null ? undefined : contributors.byId.get(contributorId)
  return {
    signal_id: signal.id,
    type: signal.type,
    domain: signal.type.split('.')[1] ?? '',
    source: signal.source,
    producer_id: producerOf(signal, attribution),
    contributor_id: contributorId,
    contributor: contributor === undefined ? null : shown(author)(contributor),
    score: scoreOf(signal.payload),
    emitted_at: signal.ts,
    received_at: attribution?.received_at ?? signal.recordedAt,
    accepted: uses.length > 0,
    linked_trade_ids: trades.map(({ position_id }) => position_id),
    outcome: outcomeOf(trades),
    feedback,
    call: callOf(attribution, verdict, measure),
    uses,
    trades,
  }
}

/** Result of the trades on a signal, once all of them are closed. */
const outcomeOf = (trades: AttributionView['trades']): AttributionView['outcome'] => {
  const closings = trades.flatMap(({ pnl, closed_at }) =>
    pnl === null || closed_at === null ? [] : [{ pnl, closed_at }],
  )
  const last = closings
    .map(({ closed_at }) => closed_at)
    .toSorted()
    .at(-1)
  if (last === undefined || closings.length < trades.length) return null
  // Summed as money, so that rounding errors do not add up.
  const total = sumOf(closings.map(({ pnl }) => usdFrom(pnl)))
  return { pnl: usdNumber(total), realized_at: last }
}

/** An event about the call of a signal, and its time. */
export interface Judged<Type extends 'attribution.resolved.v1' | 'attribution.measured.v1'> {
  readonly at: string
  readonly payload: PayloadOf<Type>
}

/** Event that settled the call. */
export type ResolvedCall = Judged<'attribution.resolved.v1'>

/** Price move by the due time of a call that was traded on. */
type MeasuredCall = Judged<'attribution.measured.v1'>

const callOf = (
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
  verdict: ResolvedCall | null,
  measure: MeasuredCall | null,
): AttributionView['call'] => {
  if (typeof attribution?.call_id !== 'string') return null
  return pickCall({
    ...verdict?.payload,
    // Signals that join a call state their own probability.
    ...attribution,
    call_id: attribution.call_id,
    status: callStatusOf(verdict),
    resolved_at: verdict?.at,
    measured: measure && pickMeasure({ ...measure.payload, at: measure.at }),
  })
}

const pickCall = picked(signalCall)
const pickMeasure = picked(callMeasure)

const callStatusOf = (verdict: ResolvedCall | null): 'open' | 'resolved' | 'void' => {
  if (verdict === null) return 'open'
  return verdict.payload.hit === null ? 'void' : 'resolved'
}

/** The contributor behind the signal, else the source that the signal names. */
export const producerOf = (
  signal: Pick<Stamped, 'source'>,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
): string | null => attribution?.node_id ?? signal.source
