import type { NewPayload, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
import type { Timestamp } from '../shared/brand.ts'
import { createAccessKey, revokeAccessKey, type KeyAuthor, type NewAccessKey } from './access-keys.ts'
import type { OperationsState } from './evolve.ts'
import type { Configuration } from '../config/schema.ts'

export type OperationsCommand =
  /** The first event a process writes: it carries the key that all its later signatures need. */
  | { readonly kind: 'start'; readonly started: NewPayload<'system.started.v1'> }
  | { readonly kind: 'record-access'; readonly entry: AccessEntry; readonly surface: 'api' | 'cli' }
  | {
      readonly kind: 'record-config-change'
      readonly change: PayloadOf<'system.config_changed.v1'>
      readonly surface: 'api' | 'cli'
    }
  | { readonly kind: 'accept-restore'; readonly restore: PayloadOf<'system.restore.v1'> }
  | { readonly kind: 'create-access-key'; readonly key: NewAccessKey; readonly surface: 'api' | 'cli' }
  | { readonly kind: 'revoke-access-key'; readonly name: string; readonly surface: 'api' | 'cli' }

/** `isKnownAuthor`: authors belong to signals. */
export const decideOperations = (
  { operations }: { readonly operations: OperationsState },
  command: OperationsCommand,
  { now }: { readonly now: Timestamp },
  isKnownAuthor: (author: KeyAuthor) => boolean,
): Decision => {
  switch (command.kind) {
    case 'start':
      return accept({ type: 'system.started.v1', source: 'system', payload: command.started })
    case 'record-access':
      return recordAccess(command.entry, command.surface)
    case 'record-config-change':
      return accept({ type: 'system.config_changed.v1', source: command.surface, payload: command.change })
    case 'accept-restore':
      return accept({ type: 'system.restore.v1', source: 'system', payload: command.restore })
    case 'create-access-key': {
      const { key, surface } = command
      return createAccessKey(operations.accessKeys, key, { now, surface, isKnownAuthor })
    }
    case 'revoke-access-key':
      return revokeAccessKey(operations.accessKeys, command.name, command.surface)
  }
}

export type AccessEntry = PayloadOf<'system.audit.v1'>

const RESOURCE_LENGTH_MAX = 256

/** Who wanted what, and whether it was allowed. */
const recordAccess = (entry: AccessEntry, surface: 'api' | 'cli'): Decision =>
  accept({
    type: 'system.audit.v1',
    source: surface,
    // In the order of canonical JSON: what stands in order is written several times as fast.
    payload: {
      ...(entry.access_key === undefined ? {} : { access_key: entry.access_key }),
      action: entry.action,
      outcome: entry.outcome,
      reason: entry.reason,
      request_id: entry.request_id,
      resource: entry.resource.slice(0, RESOURCE_LENGTH_MAX),
    },
  })

/** The settings that the fold itself depends on: they stand in the log, so that it folds the same for ever. */
export const foldingOf = ({
  brain,
  execution,
  karma,
  ta,
}: Configuration): NonNullable<PayloadOf<'system.started.v1'>['folding']> => ({
  analysis_bar_seconds: ta.bar_seconds,
  variance_decay: ta.variance_decay,
  link_window_seconds: brain.link.window_seconds,
  start_balance_usd: execution.paper_start_balance,
  form_half_life: karma.trust.half_life,
  outcome_days: Math.max(PROVENANCE_DAYS, karma.producer_window_days),
})

/** The longest window that provenance shows, whatever the window of karma. */
const PROVENANCE_DAYS = 90
