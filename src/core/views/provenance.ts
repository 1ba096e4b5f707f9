import { z } from 'zod'
import { signalsWithin, trailOf, type Trail } from '../signals/trails.ts'
import type { State } from '../state.ts'

export const PROVENANCE_NOTICE = 'Informational only; fields may change.'

const attributionWindow = z.object({
  signals: z.int().min(1),
  hit_rate: z.number().min(0).max(1),
  max_drawdown_pct: z.number().max(0),
})

export const provenanceView = z.discriminatedUnion('has_provenance', [
  z.object({
    producer_id: z.string(),
    has_provenance: z.literal(true),
    chain_verified: z.boolean().meta({ description: 'the newest 100 events of the log verify' }),
    chain_integrity_spot_checked: z.boolean(),
    total_signals: z.int().min(1),
    p_and_l_attributed: z.boolean(),
    operator_coverage: z.int().min(0).meta({ description: 'distinct contributors behind these signals' }),
    first_seen: z.string(),
    last_seen: z.string(),
    attribution_windows: z
      .object({ '7d': attributionWindow, '30d': attributionWindow, '90d': attributionWindow })
      .partial()
      .meta({ description: 'only windows with signals' }),
    note: z.string(),
  }),
  z.object({ producer_id: z.string(), has_provenance: z.literal(false), note: z.string() }),
])

export type ProvenanceView = z.infer<typeof provenanceView>

export const viewProvenance = (
  { trails, contributors }: Pick<State, 'trails' | 'contributors'>,
  producerId: string,
  { chainOk, now }: { readonly chainOk: boolean; readonly now: string },
): ProvenanceView => {
  const trail = trailOf(trails, producerId)
  if (trail === null) return unknownProvenance(producerId)
  return {
    producer_id: producerId,
    has_provenance: true,
    chain_verified: chainOk,
    chain_integrity_spot_checked: chainOk,
    total_signals: trail.signals,
    p_and_l_attributed: trail.contributorIds.some(
      (id) => (contributors.byId.get(id)?.record.resolved ?? 0) > 0,
    ),
    operator_coverage: trail.contributorIds.length,
    first_seen: trail.firstSeen,
    last_seen: trail.lastSeen,
    attribution_windows: windowsOf(trail, now),
    note: 'Counts signals this engine received. It is no statement about their quality.',
  }
}

export const unknownProvenance = (producerId: string): ProvenanceView => ({
  producer_id: producerId,
  has_provenance: false,
  note: 'No provenance data available. Proceeding without attribution context.',
})

const WINDOWS = { '7d': 7, '30d': 30, '90d': 90 } as const

type Windows = Partial<Record<keyof typeof WINDOWS, z.infer<typeof attributionWindow>>>

const windowsOf = (trail: Trail, now: string): Windows =>
  Object.fromEntries(
    Object.entries(WINDOWS)
      .map(([name, days]) => [name, signalsWithin(trail, now, days)] as const)
      .filter(([, signals]) => signals > 0)
      .map(([name, signals]) => [name, { signals, ...NOTHING_SETTLED }]),
  )

/** Signals are not settled against the market yet: none has hit, and nothing was lost on any. */
const NOTHING_SETTLED = { hit_rate: 0, max_drawdown_pct: 0 } as const
