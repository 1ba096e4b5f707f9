import { recordAccess } from './access/audit.ts'
import type { Command } from './commands.ts'
import { escalate, resetKillSwitch, setKillSwitch } from './kill-switch/kill-switch.ts'
import { startNode } from './nodes/nodes.ts'
import type { State } from './state.ts'
import { accept, type Decision } from './vocabulary/decision.ts'

/** The one door into the rooms. Each room is handed what it may see, never the whole house. */
export const decide = (state: State, command: Command): Decision => {
  switch (command.kind) {
    case 'start':
      return startNode(command.started)
    case 'set-kill-switch':
      return setKillSwitch(state.killSwitch, command.move)
    case 'reset-kill-switch':
      return resetKillSwitch(state.killSwitch, command.move)
    case 'escalate':
      return escalate(state.killSwitch, command.to, command.cause)
    case 'record-access':
      return recordAccess(command.entry, command.surface)
    case 'record-config-change':
      return accept({ type: 'system.config_changed.v1', source: command.surface, payload: command.change })
    case 'accept-restore':
      return accept({ type: 'system.restore.v1', source: 'system', payload: command.restore })
  }
}
