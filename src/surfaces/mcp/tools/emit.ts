import { z } from 'zod'
import { CURATOR_TYPE } from '../../../core/signal-types/curator.ts'
import { SIGNAL_TYPE_PATTERN, signalTypeOf } from '../../../core/signal-types/all.ts'
import { assert } from '../../../core/shared/assert.ts'
import type { Refusal } from '../../../core/shared/decision.ts'
import { storableObject } from '../../../core/shared/json-object.ts'
import { signatureText } from '../../../core/signals/signed-submissions.ts'
import { plainText } from '../../../core/shared/text.ts'
import { isTooFarAhead, timestamp } from '../../../core/shared/time.ts'
import { isoNow } from '../../../engine/iso-now.ts'
import { failed, orError, tool, type ToolOutcome } from '../tool.ts'

const PAYLOAD_BYTES_MAX = 64 * 1024
const DEDUPE_KEY_LENGTH_MAX = 200

const emissionInput = z
  .object({
    producer_id: z
      .string()
      .meta({ description: 'name of a registered producer, or node_id of a contributor' }),
    signal_type: z
      .string()
      .max(128)
      .regex(SIGNAL_TYPE_PATTERN, { error: 'must be a signal type such as signal.ta.v1' })
      .meta({
        description:
          'such as `signal.ta.v1`, of the domain of the producer; contributors emit `signal.curator.v1` and nothing else',
      }),
    payload: storableObject({ bytesMax: PAYLOAD_BYTES_MAX }).meta({
      description: 'known members of the type are checked, others kept',
      examples: [{ symbol: 'BTC', rsi_14: 31.5 }],
    }),
    ts: timestamp().optional().meta({ description: 'when it was observed; now if absent' }),
    dedupe_key: plainText(DEDUPE_KEY_LENGTH_MAX)
      .optional()
      .meta({ description: 'stores the signal once, however often it is sent' }),
    signature: signatureText()
      .optional()
      .meta({ description: 'Ed25519, 128 hex digits: required for a contributor with a public key' }),
  })
  .superRefine(({ signal_type, payload }, context) => {
    const checked = signalTypeOf(signal_type)?.payload.safeParse(payload)
    for (const issue of checked?.error?.issues ?? []) {
      context.addIssue({ ...issue, path: ['payload', ...issue.path] })
    }
  })

const emissionOutput = z.object({
  event_id: z.string(),
  producer_id: z.string(),
  signal_type: z.string(),
  emitted_at: z.string(),
})

/** The refusals of the engine, each by its code. */
const REFUSALS = [
  'producer_not_found',
  'producer_reserved',
  'contributor_signature_missing',
  'contributor_signature_invalid',
  'contributor_signature_expired',
  'idempotency_conflict',
] as const

export const emitProducerSignal = tool('emit', {
  title: 'Emit a signal',
  input: emissionInput,
  output: orError(emissionOutput, [...REFUSALS, 'scope_missing', 'author_mismatch']),
  // Curator signals are made in the name of a contributor, all others in that of a producer.
  author: ({ producer_id: id, signal_type }) => ({
    kind: signal_type === CURATOR_TYPE ? 'contributor' : 'producer',
    id,
  }),
  call: async ({
    input: { producer_id, signal_type, payload, ts = null, dedupe_key = null, signature },
    dependencies,
    traceId,
  }) => {
    const { engine, clock, configuration } = dependencies
    const { max_future_skew_seconds: skewSecondsMax } = configuration().signals
    if (ts !== null && isTooFarAhead(ts, isoNow(clock), skewSecondsMax)) {
      return { status: 'invalid', message: `ts must not be more than ${skewSecondsMax} s ahead` }
    }
    const emission = {
      producerId: producer_id,
      type: signal_type,
      payload,
      ts,
      dedupeKey: dedupe_key,
      signature,
    }
    const outcome = await engine.execute({ kind: 'emit-signal', emission }, { traceId })
    if (outcome.status === 'refused') return refusedBy(outcome.refusal, producer_id)
    const [signal] = outcome.events
    assert(signal !== undefined, 'an accepted signal must leave an event')
    return {
      status: 'done',
      value: { event_id: signal.id, producer_id, signal_type, emitted_at: signal.ts },
      effect: outcome.replayed ? 'none' : 'written',
    }
  },
})

const refusedBy = ({ code, detail, extras }: Refusal, producerId: string): ToolOutcome => {
  if (code === 'signal.type_not_allowed') return { status: 'invalid', message: detail }
  const error = REFUSALS.find((known) => known === code.replace('.', '_'))
  assert(error !== undefined, `an emission was refused with an unexpected code: ${code}`)
  return failed(error, code.startsWith('producer.') ? { producer_id: producerId } : extras)
}
