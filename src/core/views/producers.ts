import type { Timestamp } from '../shared/brand.ts'
import { z } from 'zod'
import { PRODUCER_HEALTHS } from '../events/signals.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import type { Health, Producer, Producers, RunRecord } from '../signals/producers.ts'
import {
  reputationOf,
  type ReputationRules,
  trustOf,
  type TrustRules,
} from '../reputation/author-reputation.ts'
import { NO_RECENT_SKILL, type Outcomes, tallyWithin } from '../reputation/outcomes.ts'
import type { State } from '../state.ts'
import { authorKey } from '../shared/author-key.ts'
import { intervalMsOf } from '../shared/cron.ts'

export const producerView = z.object({
  id: z.string(),
  name: z.string(),
  domain: z.string(),
  endpoint: z.string(),
  schedule: z.string(),
  registered_at: z.string(),
})

export type ProducerView = z.infer<typeof producerView>

const textOrNull = z.string().nullable()

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
    .meta({ description: 'what its word is multiplied with, by its newest outcomes; 1 at chance' }),
  calls_resolved: z.int().min(0).meta({ description: 'of the days that karma looks back on' }),
  calls_hit: z.int().min(0),
})

export type ProducerStatusView = z.infer<typeof producerStatusView>

/** Registered ones, by name. */
export const viewProducers = ({ registered }: Producers): ProducerView[] =>
  byName([...registered.values()]).map(viewProducer)

export const viewProducer = ({ name, domain, endpoint, schedule, registeredAt }: Producer): ProducerView => ({
  id: name,
  name,
  domain,
  endpoint,
  schedule,
  registered_at: registeredAt,
})

/** Built-in and registered ones, by name. */
export const viewProducerStatus = (
  { signals: { producers }, reputation: { outcomes } }: Pick<State, 'signals' | 'reputation'>,
  { now, rules }: { readonly now: Timestamp; readonly rules: ReputationRules & TrustRules },
): Record<string, ProducerStatusView> =>
  Object.fromEntries(
    byName([...builtins(), ...[...producers.registered.values()].map(registeredOne)]).map((known) => [
      known.name,
      {
        ...statusOf(known, producers.runs.get(known.name), now),
        ...successOf(outcomes, known.name, now, rules),
      },
    ]),
  )

/** How it goes now: who does not run when it should has no health to speak of. */
export const healthAt = (run: RunRecord | undefined, intervalMs: number | null, now: Timestamp): Health => {
  if (run === undefined) return 'unknown'
  const isLate =
    intervalMs !== null && Date.parse(now) - Date.parse(run.lastRunAt) > STALE_INTERVALS * intervalMs
  return isLate && (run.health === 'ok' || run.health === 'degraded') ? 'stale' : run.health
}

const STALE_INTERVALS = 3

interface Known {
  readonly name: string
  readonly kind: 'builtin' | 'registered'
  readonly domain: string
  readonly schedule: string | null
  readonly endpoint: string | null
}

const builtins = (): readonly Known[] =>
  Object.entries(BUILTIN_PRODUCERS).map(([name, { domain, schedule }]) => ({
    name,
    kind: 'builtin',
    domain,
    schedule,
    endpoint: null,
  }))

const registeredOne = ({ name, domain, schedule, endpoint }: Producer): Known => ({
  name,
  kind: 'registered',
  domain,
  schedule,
  endpoint,
})

const successOf = (
  outcomes: Outcomes,
  name: string,
  now: Timestamp,
  rules: ReputationRules & TrustRules,
): Success => {
  const tally = tallyWithin(outcomes, authorKey(null, name), now, rules.producer_window_days)
  return {
    karma: reputationOf(tally, rules.producer_k),
    trust: trustOf(outcomes.recentSkill.get(authorKey(null, name)) ?? NO_RECENT_SKILL, rules),
    calls_resolved: tally.resolved,
    calls_hit: tally.hits,
  }
}

type Success = Pick<ProducerStatusView, 'karma' | 'trust' | 'calls_resolved' | 'calls_hit'>

const statusOf = (
  known: Known,
  run: RunRecord | undefined,
  now: Timestamp,
): Omit<ProducerStatusView, keyof Success> => {
  const intervalMs = known.schedule === null ? null : intervalMsOf(known.schedule)
  const health = healthAt(run, intervalMs, now)
  return {
    id: known.name,
    name: known.name,
    kind: known.kind,
    domain: known.domain,
    schedule: known.schedule,
    endpoint: known.endpoint,
    health,
    healthy: health === 'unknown' ? null : health === 'ok',
    last_run_at: run?.lastRunAt ?? null,
    last_success_at: run?.lastSuccessAt ?? null,
    last_error: run?.lastError ?? null,
    consecutive_failures: run?.consecutiveFailures ?? 0,
    events_produced: run?.eventsProduced ?? 0,
    avg_duration_ms: run?.averageDurationMs ?? null,
    expected_interval_ms: intervalMs,
    quarantined_until: run?.quarantinedUntil ?? null,
    quarantined_reason: health === 'quarantined' ? (run?.lastError ?? null) : null,
    updated_at: run?.lastRunAt ?? null,
  }
}

const byName = <Named extends { readonly name: string }>(items: readonly Named[]): readonly Named[] =>
  items.toSorted((one, other) => (one.name < other.name ? -1 : 1))
