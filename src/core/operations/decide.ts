import type { NewPayload, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
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

export const decideOperations = (command: OperationsCommand): Decision => {
  switch (command.kind) {
    case 'start':
      return accept({ type: 'system.started.v1', source: 'system', payload: command.started })
    case 'record-access':
      return recordAccess(command.entry, command.surface)
    case 'record-config-change':
      return accept({ type: 'system.config_changed.v1', source: command.surface, payload: command.change })
    case 'accept-restore':
      return accept({ type: 'system.restore.v1', source: 'system', payload: command.restore })
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
