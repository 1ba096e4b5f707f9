import type { PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../vocabulary/decision.ts'

export type AccessEntry = PayloadOf<'system.audit.v1'>

const RESOURCE_LENGTH_MAX = 256

/** Who wanted what, and whether it was allowed. */
export const recordAccess = (entry: AccessEntry, surface: 'api' | 'cli'): Decision =>
  accept({
    type: 'system.audit.v1',
    source: surface,
    payload: { ...entry, resource: entry.resource.slice(0, RESOURCE_LENGTH_MAX) },
  })
