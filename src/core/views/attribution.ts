import { z } from 'zod'
import type { Contributors } from '../contributors/contributors.ts'
import { FEEDBACK_OUTCOMES } from '../events/learning.ts'
import type { PayloadOf } from '../events/catalogue.ts'
import type { Stamped } from '../log/event.ts'
import { scoreOf } from '../signals/reading.ts'

export const attributionView = z.object({
  signal_id: z.string(),
  type: z.string(),
  domain: z.string(),
  source: z.string().nullable(),
  producer_id: z.string().nullable(),
  contributor_id: z.string().nullable(),
  contributor: z
    .object({ id: z.string(), node_id: z.string(), name: z.string(), role: z.string() })
    .nullable()
    .meta({ description: 'kept after the contributor was removed' }),
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
})

export type AttributionView = z.infer<typeof attributionView>

/** What became of a signal, as far as the log says. */
export interface Aftermath {
  readonly attribution: PayloadOf<'attribution.recorded.v1'> | null
  readonly accepted: boolean
  readonly positionIds: readonly string[]
  readonly outcome: AttributionView['outcome']
  readonly feedback: AttributionView['feedback']
}

export const viewAttribution = (
  signal: Stamped,
  { attribution, accepted, positionIds, outcome, feedback }: Aftermath,
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
    contributor:
      contributor === undefined
        ? null
        : {
            id: contributor.id,
            node_id: contributor.nodeId,
            name: contributor.name,
            role: contributor.role,
          },
    score: scoreOf(signal.payload),
    emitted_at: signal.ts,
    received_at: attribution?.received_at ?? signal.recordedAt,
    accepted,
    linked_trade_ids: [...positionIds],
    outcome,
    feedback,
  }
}

/** The contributor who stands behind it, else whatever the signal calls its source. */
export const producerOf = (
  signal: Pick<Stamped, 'source'>,
  attribution: PayloadOf<'attribution.recorded.v1'> | null,
): string | null => attribution?.node_id ?? signal.source
