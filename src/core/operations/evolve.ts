import type { KnownEvent } from '../events/catalogue.ts'
import { evolveNodes, INITIAL_NODES, type Nodes } from './nodes.ts'

export interface OperationsState {
  readonly nodes: Nodes
  /** Of the configuration that was changed last; null if it never was. */
  readonly configHash: string | null
}

export const INITIAL_OPERATIONS: OperationsState = { nodes: INITIAL_NODES, configHash: null }

export const evolveOperations = (state: OperationsState, event: KnownEvent): OperationsState => ({
  nodes: evolveNodes(state.nodes, event),
  configHash: event.type === 'system.config_changed.v1' ? event.payload.config_hash : state.configHash,
})
