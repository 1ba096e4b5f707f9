import { z } from 'zod'
import { SIGNAL_TYPE_PATTERN, signalTypeOf } from '../../../core/signal-types/all.ts'
import type { Refusal } from '../../../core/shared/decision.ts'
import { storableObject } from '../../../core/shared/json-object.ts'
import { plainText } from '../../../core/shared/text.ts'
import { isTooFarAhead, timestampAt } from '../../../core/shared/time.ts'
import { timestamp } from '../../../core/shared/time.ts'
import { attributionView } from '../../../core/views/signals.ts'
import { signalItemView, viewSignalItem } from '../../../core/views/signals.ts'
import { attributionOf } from '../../../engine/queries/attribution.ts'
import { signalItems } from '../../../engine/queries/views.ts'
import { LIMITS_NOTE } from '../tool-result.ts'
import { defineTool, failed, found, itemLimit, itemsOf, orError, READS, type ToolOutcome } from '../tool.ts'

const getRecentSignals = defineTool({
  title: 'Recent signals',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({
    limit: itemLimit(),
    domain: z
      .string()
      .max(256)
      .optional()
      .meta({ description: 'second segment of the type, such as `ta` or `signal.ta`; empty = all' }),
  }),
  output: itemsOf(signalItemView),
  call: async ({ input: { limit, domain: given = '' }, dependencies: { engine } }) => {
    const domain = given.replace(/^signal\./, '')
    const { records } = await signalItems(engine, { domain, limit, offset: 0 })
    return found(records.map(viewSignalItem))
  },
})

const getSignalAttribution = defineTool({
  title: 'Attribution of a signal',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({ signal_id: z.string().meta({ description: 'id of a stored signal' }) }),
  output: orError(attributionView, ['signal_not_found']),
  call: async ({ input: { signal_id }, dependencies: { engine } }) => {
    const attribution = await attributionOf(engine, signal_id)
    return attribution === null ? failed('signal_not_found', { signal_id }) : found(attribution)
  },
})

const PAYLOAD_BYTES_MAX = 64 * 1024
const DEDUPE_KEY_LENGTH_MAX = 200

const emissionInput = z
  .object({
    producer_id: z
      .string()
      .meta({ description: 'name of a registered or built-in producer, or node_id of a contributor' }),
    signal_type: z
      .string()
      .max(128)
      .regex(SIGNAL_TYPE_PATTERN, { error: 'must be a signal type such as signal.ta.v1' })
      .meta({
        description: 'such as `signal.ta.v1`; contributors emit `signal.curator.v1` and nothing else',
      }),
    payload: storableObject({ bytesMax: PAYLOAD_BYTES_MAX }).meta({
      description: 'known members of the type are checked, others kept',
      examples: [{ symbol: 'BTC', rsi_14: 31.5 }],
    }),
    ts: timestamp().optional().meta({ description: 'when it was observed; now if absent' }),
    dedupe_key: plainText(DEDUPE_KEY_LENGTH_MAX)
      .optional()
      .meta({ description: 'stores the signal once, however often it is sent' }),
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

const emitProducerSignal = defineTool({
  title: 'Emit a signal',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: emissionInput,
  output: orError(emissionOutput, ['producer_not_found', 'idempotency_conflict']),
  call: async ({
    input: { producer_id, signal_type, payload, ts = null, dedupe_key = null },
    dependencies,
    traceId,
  }) => {
    const { engine, clock, configuration } = dependencies
    const { max_future_skew_seconds: skewSecondsMax } = configuration().signals
    if (ts !== null && isTooFarAhead(ts, timestampAt(clock.now()), skewSecondsMax)) {
      return { status: 'invalid', message: `ts must not be more than ${skewSecondsMax} s ahead` }
    }
    const emission = { producerId: producer_id, type: signal_type, payload, ts, dedupeKey: dedupe_key }
    const outcome = await engine.execute({ kind: 'emit-signal', emission }, { traceId })
    if (outcome.status === 'refused') return refusedBy(outcome.refusal, producer_id)
    const [signal] = outcome.events
    if (signal === undefined) throw new Error('an accepted signal left no event')
    return {
      status: 'done',
      value: { event_id: signal.id, producer_id, signal_type, emitted_at: signal.ts },
      effect: outcome.replayed ? 'none' : 'written',
    }
  },
})

const refusedBy = ({ code, detail, extras }: Refusal, producerId: string): ToolOutcome => {
  switch (code) {
    case 'producer.not_found':
      return failed('producer_not_found', { producer_id: producerId })
    case 'idempotency.conflict':
      return failed('idempotency_conflict', extras)
    case 'signal.type_not_allowed':
      return { status: 'invalid', message: detail }
    default:
      throw new Error(`an emission was refused with an unexpected code: ${code}`)
  }
}

export const signalTools = {
  emit_producer_signal: emitProducerSignal,
  get_recent_signals: getRecentSignals,
  get_signal_attribution: getSignalAttribution,
}
