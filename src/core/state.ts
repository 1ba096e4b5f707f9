import { asKnown, type KnownEvent } from './events/catalogue.ts'
import { evolveKillSwitch, INITIAL_KILL_SWITCH, type KillSwitch } from './kill-switch/kill-switch.ts'
import type { Stamped } from './log/event.ts'
import { evolveNodes, INITIAL_NODES, type Nodes } from './nodes/nodes.ts'

/** Changes with every change of the fold: a snapshot of another version is not used. */
export const STATE_VERSION = '1'

/** All of memory, as one fold over the log. */
export interface State {
  readonly seq: number
  /** Receive time of the newest event; it never decreases. */
  readonly recordedAt: string
  readonly killSwitch: KillSwitch
  readonly nodes: Nodes
  readonly configHash: string | null
}

export const INITIAL_STATE: State = {
  seq: 0,
  recordedAt: '',
  killSwitch: INITIAL_KILL_SWITCH,
  nodes: INITIAL_NODES,
  configHash: null,
}

export const evolve = (state: State, event: Stamped): State => {
  const known = asKnown(event)
  const position = { seq: event.seq, recordedAt: event.recordedAt }
  if (known === null) return { ...state, ...position }
  return {
    ...position,
    killSwitch: evolveKillSwitch(state.killSwitch, known),
    nodes: evolveNodes(state.nodes, known),
    configHash: evolveConfigHash(state.configHash, known),
  }
}

const evolveConfigHash = (hash: string | null, event: KnownEvent): string | null =>
  event.type === 'system.config_changed.v1' ? event.payload.config_hash : hash
