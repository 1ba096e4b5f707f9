import type { CheckpointStore } from '../../ports/checkpoints.ts'
import type { Clock } from '../../ports/clock.ts'

/** What the log had promised, for the event that records who let it go. */
export interface AcceptedLoss {
  readonly movedTo: string
  readonly checkpointSize: number
  readonly checkpointHead: string
}

/**
 * An operator accepts that the log is not what its checkpoints say, as after restoring an older copy. They are moved
 * aside, never deleted, and new ones begin with the log as it is now. Null when there is no checkpoint.
 */
export const acceptLoss = async (
  checkpoints: CheckpointStore,
  clock: Pick<Clock, 'now'>,
): Promise<AcceptedLoss | null> => {
  const newest = (await checkpoints.read('newest')).notes.at(-1)
  const movedTo = await checkpoints.setAside(new Date(clock.now()).toISOString())
  if (movedTo === null) return null
  return { movedTo, checkpointSize: newest?.frontier.size ?? 0, checkpointHead: newest?.head ?? '' }
}
