import type { PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'
import { recordAccess, type AccessEntry } from './audit.ts'

export type OperationsCommand =
  /** The first event a process writes: it carries the key that all its later signatures need. */
  | { readonly kind: 'start'; readonly started: PayloadOf<'system.started.v1'> }
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
