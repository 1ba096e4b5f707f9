import type { AccessEntry } from './access/audit.ts'
import type { PayloadOf } from './events/catalogue.ts'
import type { Cause, OperatorMove } from './kill-switch/kill-switch.ts'
import type { KillSwitchLevel } from './vocabulary/level.ts'

/** Everything that can be asked of the engine. What comes from outside comes in with the command. */
export type Command =
  | { readonly kind: 'start'; readonly started: PayloadOf<'system.started.v1'> }
  | { readonly kind: 'set-kill-switch'; readonly move: OperatorMove }
  | { readonly kind: 'reset-kill-switch'; readonly move: OperatorMove }
  | { readonly kind: 'escalate'; readonly to: KillSwitchLevel; readonly cause: Cause }
  | { readonly kind: 'record-access'; readonly entry: AccessEntry; readonly surface: 'api' | 'cli' }
  | {
      readonly kind: 'record-config-change'
      readonly change: PayloadOf<'system.config_changed.v1'>
      readonly surface: 'api' | 'cli'
    }
  | { readonly kind: 'accept-restore'; readonly restore: PayloadOf<'system.restore.v1'> }
