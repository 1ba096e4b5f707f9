import type { NodeId } from '../shared/brand.ts'
import type { KnownEvent } from '../events/catalogue.ts'
import { Map as PersistentMap } from 'immutable'
import { evolveAccessKeys, INITIAL_ACCESS_KEYS, type AccessKeys } from './access-keys.ts'

/** Every node that ever signed here, with the key its signatures are checked against. */
interface Nodes {
  readonly publicKeys: PersistentMap<NodeId, string>
  /** How often a process started on this store. */
  readonly starts: number
}

const INITIAL_NODES: Nodes = { publicKeys: PersistentMap(), starts: 0 }

export interface OperationsState {
  readonly nodes: Nodes
  /** Of the configuration that was changed last; null if it never was. */
  readonly configHash: string | null
  readonly accessKeys: AccessKeys
}

export const INITIAL_OPERATIONS: OperationsState = {
  nodes: INITIAL_NODES,
  configHash: null,
  accessKeys: INITIAL_ACCESS_KEYS,
}

export const evolveOperations = (state: OperationsState, event: KnownEvent): OperationsState => ({
  nodes: evolveNodes(state.nodes, event),
  configHash: event.type === 'system.config_changed.v1' ? event.payload.config_hash : state.configHash,
  accessKeys: evolveAccessKeys(state.accessKeys, event),
})

const evolveNodes = (nodes: Nodes, event: KnownEvent): Nodes => {
  if (event.type !== 'system.started.v1') return nodes
  const { node_id, public_key } = event.payload
  return { publicKeys: nodes.publicKeys.set(node_id, public_key), starts: nodes.starts + 1 }
}
