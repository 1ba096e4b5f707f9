import { z } from 'zod'
import { CATALOGUE } from '../events/catalogue.ts'
import { SIGNAL_TYPES } from '../signal-types/all.ts'
import { categoryOf } from '../log/domain.ts'
import type { Producer } from '../signals/producers.ts'
import type { State } from '../state.ts'
import { intervalMsOf } from '../shared/cron.ts'
import { healthAt, viewProducers } from './producers.ts'
import { TOOLS } from './tools.ts'

const jsonSchema = z.record(z.string(), z.unknown())

export const capabilitiesView = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  event_domains: z.array(z.string()),
  producers: z.array(
    z.object({
      producer_id: z.string(),
      signal_types: z.array(
        z.object({
          name: z.string(),
          schema: jsonSchema.meta({ description: 'JSON Schema of the payload' }),
        }),
      ),
      last_seen: z.string().nullable(),
      health: z.enum(['healthy', 'degraded', 'unknown']),
    }),
  ),
})

export type CapabilitiesView = z.infer<typeof capabilitiesView>

export const viewCapabilities = (
  state: Pick<State, 'signals'>,
  storedDomains: Iterable<string>,
  now: string,
): CapabilitiesView => ({
  tools: TOOLS.map(({ name, description }) => ({ name, description })),
  event_domains: [...new Set([...DOCUMENTED, ...[...storedDomains].map(categoryOf)])].sort(),
  producers: viewProducers(state.signals.producers).map(({ name, domain, schedule }) => {
    const trail = state.signals.trails.bySource.get(name)
    const health = healthAt(state.signals.producers.runs.get(name), intervalMsOf(schedule), now)
    return {
      producer_id: name,
      signal_types: typesOf(domain, trail?.types ?? []),
      last_seen: trail?.lastSeen ?? null,
      health: health === 'ok' ? 'healthy' : health === 'unknown' ? 'unknown' : 'degraded',
    }
  }),
})

const DOCUMENTED = ['signal', ...Object.keys(CATALOGUE).map(categoryOf)]

type SignalTypes = CapabilitiesView['producers'][number]['signal_types']

/** What producers of a domain may say; of a domain that nobody documented, what was heard so far. */
const typesOf = (domain: Producer['domain'], seen: readonly string[]): SignalTypes => {
  const documented: readonly string[] = SIGNAL_TYPES.filter((declared) => declared.domain === domain).map(
    ({ type }) => type,
  )
  const names = documented.length > 0 ? documented : seen.toSorted()
  return names.map((name) => ({ name, schema: SCHEMAS[name] ?? ANY_OBJECT }))
}

const SCHEMAS: Readonly<Record<string, Record<string, unknown>>> = Object.fromEntries(
  SIGNAL_TYPES.map(({ type, payload }) => [type, { ...z.toJSONSchema(payload) }]),
)

const ANY_OBJECT = { type: 'object' }
