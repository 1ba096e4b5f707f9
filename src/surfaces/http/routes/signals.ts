import { nodeId, type Timestamp } from '../../../core/shared/brand.ts'
import { z } from 'zod'
import { curatorPayload } from '../../../core/signal-types/curator.ts'
import {
  attributionView,
  signalItemText,
  signalItemView,
  submissionView,
  viewSubmission,
} from '../../../core/views/signals.ts'
import { signatureText } from '../../../core/signals/signed-submissions.ts'
import type { Fault } from '../../../core/shared/faults.ts'
import { storableObject } from '../../../core/shared/json-object.ts'
import { plainText, trimmedText } from '../../../core/shared/text.ts'
import { isTooFarAhead, timestamp } from '../../../core/shared/time.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { attributionOf } from '../../../engine/queries/attribution.ts'
import { signalItems } from '../../../engine/queries/views.ts'
import { CONTRIBUTOR_ID, EVENT_ID, POSITION_ID, SIGNAL, TS } from '../examples.ts'
import { okJsonText, okOr, refusedWith } from '../results.ts'
import { headerText, integer, pathText, textFilter } from '../fields.ts'
import { maySpeakFor, type Caller } from '../../caller.ts'
import { AUTHOR_MISMATCH, invalidProblem } from '../problems.ts'
import { route, routes, type Service } from '../route.ts'

const ATTRIBUTION = {
  signal_id: EVENT_ID,
  type: 'signal.curator.v1',
  domain: 'curator',
  source: 'n1',
  producer_id: 'n1',
  contributor_id: CONTRIBUTOR_ID,
  contributor: { id: CONTRIBUTOR_ID, node_id: 'n1', name: 'Ann', role: 'curator' },
  score: 7.5,
  emitted_at: TS,
  received_at: TS,
  accepted: true,
  linked_trade_ids: [POSITION_ID],
  outcome: { pnl: 73.5, realized_at: '2026-02-21T09:12:00.000Z' },
  feedback: null,
  call: {
    call_id: 'b1f0a7c2-9d3e-8f41-a6b5-0c1d2e3f4a5b',
    symbol: 'BTC',
    direction: 'bullish',
    probability: 0.875,
    horizon: '24h',
    due_at: '2026-02-21T00:30:00.000Z',
    ref_price: 64_000,
    ref_sigma: 0.039191836,
    status: 'resolved',
    resolved_at: '2026-02-21T09:12:00.000Z',
    resolved_by: 'trade',
    exit_price: 70_400,
    return_pct: 0.098190331,
    band_pct: 0.0022,
    hit: true,
    base_rate: 0.333333333,
    void_reason: null,
    measured: {
      at: '2026-02-21T00:31:00.000Z',
      exit_price: 66_560,
      return_pct: 0.04,
      band_pct: 0.009797959,
      hit: true,
      base_rate: 0.4,
      void_reason: null,
    },
  },
  uses: [
    {
      cycle_id: '019c7874-2b11-7a90-8c4d-5e6f7a8b9c0d',
      conviction_id: '019c7874-2b12-7f3e-b1a2-c3d4e5f6a7b8',
      at: TS,
      symbol: 'BTC',
      action: 'long',
      share: 0.5,
      quality: 1,
      evidence: 0.75,
      contribution: 0.09375,
    },
  ],
  trades: [
    {
      position_id: POSITION_ID,
      intent_id: '019c7874-2b13-7c21-9d0e-1f2a3b4c5d6e',
      direction: 'long',
      weight: 0.188916877,
      opened_at: TS,
      closed_at: '2026-02-21T09:12:00.000Z',
      pnl: 73.5,
      exit_reason: 'take_profit',
    },
  ],
} as const

const PAYLOAD_BYTES_MAX = 64 * 1024

const dedupeKey = () => plainText(200)

const submission = z
  .object({
    event_type: z.string().meta({ description: '`signal.curator.v1`' }),
    node_id: plainText().meta({ description: 'of a registered contributor' }),
    ts: timestamp().optional().meta({ description: 'when the signal was made; now if absent' }),
    source: trimmedText().nullable().optional().meta({ description: 'absent or blank becomes node_id' }),
    payload: storableObject({ bytesMax: PAYLOAD_BYTES_MAX, members: curatorPayload })
      .default({})
      .meta({
        type: 'object',
        properties: z.toJSONSchema(curatorPayload).properties ?? {},
        description: 'stored as it is, including unknown members; at most 64 KiB',
      }),
    dedupe_key: dedupeKey().optional().meta({ description: 'the same as the header Idempotency-Key' }),
    signature: signatureText()
      .optional()
      .meta({ description: 'Ed25519, 128 hex digits: required for a contributor with a public key' }),
  })
  .meta({
    examples: [
      {
        event_type: 'signal.curator.v1',
        node_id: 'n1',
        payload: { symbol: 'BTC', direction: 'bullish', conviction: 7.5, rationale: 'funding turned' },
      },
    ],
  })

const submissionHeaders = z.object({
  'idempotency-key': headerText(
    dedupeKey(),
    'the same key with the same body is stored once, and later answered with the first result',
  ),
})

export const signalRoutes = routes('Signals', {
  listSignals: route('GET', '/signals', 'read', {
    summary: 'Stored signals, newest first',
    query: z.object({
      domain: textFilter('second segment of the type, exactly, such as `ta`'),
      limit: integer(100, { min: 1, max: 500 }, 'items per page'),
      offset: integer(0, { min: 0 }, 'items to leave out'),
    }),
    response: z.object({
      items: z.array(signalItemView.meta({ id: 'Signal' })),
      limit: z.int(),
      offset: z.int(),
      total: z.int().min(0),
    }),
    example: { items: [SIGNAL], limit: 100, offset: 0, total: 1 },
    handler: async ({ query: { domain = null, limit, offset } }, { engine }) => {
      const { records, total } = await signalItems(engine, { domain, limit, offset })
      const items = records.map(signalItemText).join(',')
      return okJsonText(`{"items":[${items}],"limit":${limit},"offset":${offset},"total":${total}}`)
    },
  }),
  submitSignal: route('POST', '/signals/submit', 'submit', {
    summary: 'Submit a signal as a contributor',
    description:
      'Stores the signal together with its attribution. A repeated submission under the same key stores nothing and ' +
      'carries the header `Idempotency-Replayed: true`. A contributor with a public key signs `ts`, the key and ' +
      'everything else that is stored; docs/signing.md has the text to sign.',
    headers: submissionHeaders,
    body: submission,
    response: submissionView,
    example: { event_id: EVENT_ID, contributor_id: CONTRIBUTOR_ID },
    problems: [
      'signal.invalid_type',
      'signal.source_reserved',
      'contributor.not_found',
      'contributor.signature_missing',
      'contributor.signature_invalid',
      'contributor.signature_expired',
      'idempotency.conflict',
    ],
    author: ({ body: { node_id } }) => ({ kind: 'contributor', id: node_id }),
    handler: async ({ body, headers: { 'idempotency-key': headerKey }, caller, execute }, service) => {
      if (namesOther(body.source, caller)) return refusedWith(AUTHOR_MISMATCH)
      const faults = [...keyFaults(headerKey, body.dedupe_key), ...timeFaults(body.ts, service)]
      if (faults.length > 0) return refusedWith(invalidProblem(faults))
      const { event_type: eventType, node_id, ts = null, source = null, payload, signature } = body
      const key = body.dedupe_key ?? headerKey ?? null
      return execute(
        {
          kind: 'submit-signal',
          submission: { eventType, nodeId: nodeId(node_id), ts, source, payload, dedupeKey: key, signature },
        },
        viewSubmission,
        { auditedAs: { reason: null }, replayHeaders: { 'idempotency-replayed': 'true' } },
      )
    },
  }),
  getSignalAttribution: route('GET', '/signals/:signal_id/attribution', 'read', {
    summary: 'Author of a signal, and its outcome',
    params: z.object({ signal_id: pathText('the id of the signal', EVENT_ID) }),
    response: attributionView.meta({ id: 'Attribution' }),
    example: ATTRIBUTION,
    problems: ['signal.not_found'],
    handler: async ({ params: { signal_id } }, { engine }) =>
      okOr(await attributionOf(engine, signal_id), 'signal.not_found', 'No signal has this id', {
        signal_id,
      }),
  }),
})

/** True if a bound key names another source than its own author. */
const namesOther = (source: string | null | undefined, caller: Caller): boolean =>
  (source ?? '') !== '' && !maySpeakFor(caller, { kind: 'contributor', id: source ?? '' })

const keyFaults = (headerKey: string | undefined, bodyKey: string | undefined): readonly Fault[] =>
  headerKey === undefined || bodyKey === undefined || headerKey === bodyKey
    ? []
    : [{ loc: ['body', 'dedupe_key'], type: 'conflict', msg: 'must be the same as Idempotency-Key' }]

const timeFaults = (ts: Timestamp | undefined, { clock, configuration }: Service): readonly Fault[] => {
  const { max_future_skew_seconds: skewSecondsMax } = configuration.current().signals
  if (ts === undefined || !isTooFarAhead(ts, isoNow(clock), skewSecondsMax)) return []
  const msg = `must not be more than ${skewSecondsMax} s ahead`
  return [{ loc: ['body', 'ts'], type: 'timestamp_in_future', msg }]
}
