import { z } from 'zod'
import { NO_TALLY, sumOf, type Tally } from '../reputation/day-rows.ts'
import { daysWithin, type Outcomes } from '../reputation/outcomes.ts'
import { signalsWithin, trailOf, type Trail } from '../signals/trails.ts'
import type { State } from '../state.ts'
import { authorKey } from '../shared/author-key.ts'
import { r9 } from '../shared/numbers.ts'

export const PROVENANCE_NOTICE = 'Informational only; fields may change.'

const attributionWindow = z.object({
  signals: z.int().min(1),
  hit_rate: z.number().min(0).max(1).meta({ description: 'of calls that were decided in that time' }),
  max_drawdown_pct: z
    .number()
    .max(0)
    .meta({ description: 'deepest fall of the summed returns of its calls' }),
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
  { signals: { trails }, reputation: { outcomes } }: Pick<State, 'signals' | 'reputation'>,
  producerId: string,
  { chainOk, now }: { readonly chainOk: boolean; readonly now: string },
): ProvenanceView => {
  const trail = trailOf(trails, producerId)
  if (trail === null) return unknownProvenance(producerId)
  const authors = authorsOf(trail, producerId)
  return {
    producer_id: producerId,
    has_provenance: true,
    chain_verified: chainOk,
    chain_integrity_spot_checked: chainOk,
    total_signals: trail.signals,
    p_and_l_attributed: authors.some((author) => outcomes.byAuthor.has(author)),
    operator_coverage: trail.contributorIds.length,
    first_seen: trail.firstSeen,
    last_seen: trail.lastSeen,
    attribution_windows: windowsOf(trail, now, (days) => dailyOf(outcomes, authors, now, days)),
    note: 'Counts signals that this engine received and what became of the calls they made.',
  }
}

export const unknownProvenance = (producerId: string): ProvenanceView => ({
  producer_id: producerId,
  has_provenance: false,
  note: 'No provenance data available. Proceeding without attribution context.',
})

const WINDOWS = { '7d': 7, '30d': 30, '90d': 90 } as const

type Window = z.infer<typeof attributionWindow>

type Windows = Partial<Record<keyof typeof WINDOWS, Window>>

const windowsOf = (trail: Trail, now: string, daysOf: (windowDays: number) => readonly Tally[]): Windows =>
  Object.fromEntries(
    Object.entries(WINDOWS)
      .map(([name, days]) => [name, signalsWithin(trail, now, days), days] as const)
      .filter(([, signals]) => signals > 0)
      .map(([name, signals, days]) => [name, { signals, ...successOf(daysOf(days)) }]),
  )

/** Those who stood behind a node id, or the producer itself. */
const authorsOf = ({ contributorIds }: Trail, producerId: string): readonly string[] =>
  contributorIds.length === 0
    ? [authorKey(null, producerId)]
    : contributorIds.map((id) => authorKey(id, producerId))

/** Day by day; mostly there is one author. */
const dailyOf = (
  outcomes: Outcomes,
  authors: readonly string[],
  now: string,
  windowDays: number,
): readonly Tally[] => {
  const byDay = new Map<number, Tally>()
  for (const author of authors) {
    for (const { day, tally } of daysWithin(outcomes, author, now, windowDays)) {
      byDay.set(day, sumOf([byDay.get(day) ?? NO_TALLY, tally]))
    }
  }
  return [...byDay].toSorted(([one], [other]) => one - other).map(([, tally]) => tally)
}

/** The deepest fall of all returns in the direction of the calls, added up day by day. */
const successOf = (days: readonly Tally[]): Pick<Window, 'hit_rate' | 'max_drawdown_pct'> => {
  const { resolved, hits } = sumOf(days)
  let [sum, peak, deepest] = [0, 0, 0]
  for (const { returns } of days) {
    sum += returns
    peak = Math.max(peak, sum)
    deepest = Math.min(deepest, sum - peak)
  }
  return { hit_rate: resolved === 0 ? 0 : r9(hits / resolved), max_drawdown_pct: r9(deepest) }
}
