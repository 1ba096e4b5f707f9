import type { PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'

export type AccessEntry = PayloadOf<'system.audit.v1'>

const RESOURCE_LENGTH_MAX = 256

/** Who wanted what, and whether it was allowed. */
export const recordAccess = (entry: AccessEntry, surface: 'api' | 'cli'): Decision =>
  accept({
    type: 'system.audit.v1',
    source: surface,
    // In the order of canonical JSON: what stands in order is written several times as fast.
    payload: {
      action: entry.action,
      outcome: entry.outcome,
      reason: entry.reason,
      request_id: entry.request_id,
      resource: entry.resource.slice(0, RESOURCE_LENGTH_MAX),
    },
  })
