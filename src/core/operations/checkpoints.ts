import { Map as PersistentMap } from 'immutable'
import type { KnownEvent } from '../events/catalogue.ts'

/**
 * Checkpoints that the log records. The files that hold them can be deleted or put back, this cannot. An operator who
 * accepts a loss starts anew.
 */
export interface RecordedCheckpoints {
  /** Size of the newest one, whichever node keeps it; null if the log records none. */
  readonly newest: number | null
  /** Size of the newest one of each node, by node id. */
  readonly byNode: PersistentMap<string, number>
}

export const NO_RECORDED_CHECKPOINTS: RecordedCheckpoints = { newest: null, byNode: PersistentMap() }

export const evolveCheckpoints = (recorded: RecordedCheckpoints, event: KnownEvent): RecordedCheckpoints => {
  switch (event.type) {
    case 'system.started.v1': {
      const { checkpoint, node_id: nodeId } = event.payload
      return checkpoint === null || checkpoint === undefined
        ? recorded
        : { newest: checkpoint.size, byNode: recorded.byNode.set(nodeId, checkpoint.size) }
    }
    case 'system.checkpoint.v1': {
      const { size, node_id: nodeId } = event.payload
      const byNode = nodeId === undefined ? recorded.byNode : recorded.byNode.set(nodeId, size)
      return { newest: size, byNode }
    }
    case 'system.key_admitted.v1': {
      const { replaces, node_id: nodeId } = event.payload
      const size = replaces === undefined ? undefined : recorded.byNode.get(replaces)
      // The home stays the same, and so does the file of its checkpoints.
      return size === undefined ? recorded : { ...recorded, byNode: recorded.byNode.set(nodeId, size) }
    }
    case 'system.restore.v1':
      return NO_RECORDED_CHECKPOINTS
    default:
      return recorded
  }
}
