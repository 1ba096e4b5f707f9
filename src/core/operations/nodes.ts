import { Map as PersistentMap } from 'immutable'
import type { KnownEvent, PayloadOf } from '../events/catalogue.ts'
import { accept, type Decision } from '../shared/decision.ts'

/** Every node that ever signed here, with the key its signatures are checked against. */
export interface Nodes {
  readonly publicKeys: PersistentMap<string, string>
  /** How often a process started on this store. */
  readonly starts: number
}

export const INITIAL_NODES: Nodes = { publicKeys: PersistentMap(), starts: 0 }

/** The first event a process writes: it carries the key that all its later signatures need. */
export const startNode = (started: PayloadOf<'system.started.v1'>): Decision =>
  accept({ type: 'system.started.v1', source: 'system', payload: started })

export const evolveNodes = (nodes: Nodes, event: KnownEvent): Nodes => {
  if (event.type !== 'system.started.v1') return nodes
  const { node_id, public_key } = event.payload
  return { publicKeys: nodes.publicKeys.set(node_id, public_key), starts: nodes.starts + 1 }
}
