import type { Timestamp } from '../shared/brand.ts'
import { z } from 'zod'
import { PRODUCER_HEALTHS } from '../events/signals.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import type { Health, RegisteredProducer, Producers, RunRecord } from '../signals/producers.ts'
import { reputationOf, type ReputationRules } from '../reputation/author-reputation.ts'
import { NEWCOMER, weightOf, type ContributionRules } from '../reputation/contribution.ts'
import { contributionsIn } from '../reputation/evolve.ts'
import { tallyWithin } from '../reputation/outcomes.ts'
import type { State } from '../state.ts'
import { authorKey } from '../shared/author-key.ts'
import { intervalMsOf } from '../shared/cron.ts'
import { shown, textOrNull } from './members.ts'

export const producerView = z.object({
  id: z.string(),
  name: z.string(),
  domain: z.string(),
  endpoint: z.string(),
  schedule: z.string(),
  registered_at: z.string(),
})

export type ProducerView = z.infer<typeof producerView>

export const producerStatusView = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['builtin', 'registered']),
  domain: z.string(),
  schedule: textOrNull,
  endpoint: textOrNull,
  health: z.enum(PRODUCER_HEALTHS),
  healthy: z.boolean().nullable().meta({ description: 'true for ok, null for unknown' }),
  last_run_at: textOrNull,
  last_success_at: textOrNull,
  last_error: textOrNull,
  consecutive_failures: z.int().min(0),
  events_produced: z.int().min(0),
  avg_duration_ms: z.number().nullable(),
  expected_interval_ms: z.int().nullable(),
  quarantined_until: textOrNull,
  quarantined_reason: textOrNull,
  updated_at: textOrNull,
  karma: z.number().min(0).max(100).meta({ description: 'hits beyond the base rate; 50 is chance' }),
  trust: z
    .number()
    .min(0)
    .meta({ description: 'what its word weighs: 1 for a newcomer, later by what its calls add' }),
  calls_resolved: z.int().min(0).meta({ description: 'of the days that karma looks back on' }),
  calls_hit: z.int().min(0),
})

export type ProducerStatusView = z.infer<typeof producerStatusView>

/** Registered producers by name. */
export const viewProducers = ({ registered }: Producers): ProducerView[] =>
  byName([...registered.values()]).map(viewProducer)

export const viewProducer = (producer: RegisteredProducer): ProducerView =>
  showProducer({ ...producer, id: producer.name })

const showProducer = shown(producerView)

type StatusRules = ReputationRules & { readonly influence: ContributionRules }

/** Built-in and registered producers by name. */
export const viewProducerStatus = (
  { signals: { producers }, reputation }: Pick<State, 'signals' | 'reputation'>,
  { now, rules }: { readonly now: Timestamp; readonly rules: StatusRules },
): Record<string, ProducerStatusView> => {
  const { outcomes } = reputation
  const contributions = contributionsIn(reputation, rules.influence)
  const builtins = Object.entries(BUILTIN_PRODUCERS).map(([name, own]): Known => ({
    ...own,
    name,
    kind: 'builtin',
    endpoint: null,
  }))
  const registered = [...producers.registered.values()].map((own): Known => ({ ...own, kind: 'registered' }))
  const statusOf = (known: Known): ProducerStatusView => {
    const { name, schedule } = known
    const run = producers.runs.get(name)
    const intervalMs = schedule === null ? null : intervalMsOf(schedule)
    const health = healthAt(run, intervalMs, now)
    const author = authorKey(null, name)
    const tally = tallyWithin(outcomes, author, now, rules.producer_window_days)
    return showStatus({
      ...known,
      ...(run ?? NO_RUN),
      id: name,
      health,
      healthy: health === 'unknown' ? null : health === 'ok',
      avgDurationMs: run?.averageDurationMs,
      expectedIntervalMs: intervalMs,
      quarantinedReason: health === 'quarantined' ? run?.lastError : null,
      updatedAt: run?.lastRunAt,
      karma: reputationOf(tally, rules.producer_k),
      trust: weightOf(contributions.get(author) ?? NEWCOMER),
      callsResolved: tally.resolved,
      callsHit: tally.hits,
    })
  }
  return Object.fromEntries(
    byName([...builtins, ...registered]).map((known) => [known.name, statusOf(known)]),
  )
}

const showStatus = shown(producerStatusView)

type Known = Pick<ProducerStatusView, 'name' | 'kind' | 'domain' | 'schedule' | 'endpoint'>

const NO_RUN = {
  lastRunAt: null,
  lastSuccessAt: null,
  lastError: null,
  consecutiveFailures: 0,
  eventsProduced: 0,
  quarantinedUntil: null,
}

/** Current health; `stale` for a healthy or degraded producer that missed several runs. */
export const healthAt = (run: RunRecord | undefined, intervalMs: number | null, now: Timestamp): Health => {
  if (run === undefined) return 'unknown'
  const isLate =
    intervalMs !== null && Date.parse(now) - Date.parse(run.lastRunAt) > STALE_INTERVALS * intervalMs
  return isLate && (run.health === 'ok' || run.health === 'degraded') ? 'stale' : run.health
}

const STALE_INTERVALS = 3

const byName = <Named extends { readonly name: string }>(items: readonly Named[]): readonly Named[] =>
  items.toSorted((one, other) => (one.name < other.name ? -1 : 1))
