import type { CheckpointStore } from '../../ports/checkpoints.ts'
import { acceptLoss } from '../../engine/integrity/accept-loss.ts'
import type { Bench } from './command.ts'
import { Failure } from './failure.ts'
import { execute, recordWrite, withExistingStore } from './store.ts'
import { verifySession } from './verification.ts'

/**
 * The operator accepts a log that is shorter than, or other than, its checkpoints say. Recorded first, then the
 * checkpoints are set aside; returns where they lie now.
 */
export const acceptLossOf = (bench: Bench, reason: string): Promise<string | null> =>
  withExistingStore(bench.dependencies, async (session) => {
    const { checks, detail } = await verifySession(bench.dependencies, session, { mode: 'fast', n: 1 })
    const { checkpoints } = session
    if (checkpoints === null || checks.checkpoint === 'pass') throw nothingLost(detail)
    const { size, head } = await newestOf(checkpoints)
    const engine = await session.openEngine()
    await execute(engine, {
      kind: 'accept-restore',
      restore: { reason, accepted_by: engine.nodeId, checkpoint_size: size, checkpoint_head: head },
    })
    const accepted = await acceptLoss(checkpoints, bench.dependencies.clock)
    await recordWrite(engine, bench, 'integrity')
    return accepted?.movedTo ?? null
  })

const newestOf = async (
  checkpoints: CheckpointStore,
): Promise<{ readonly size: number; readonly head: string }> => {
  const newest = (await checkpoints.read('newest')).notes.at(-1)
  return { size: newest?.frontier.size ?? 0, head: newest?.head ?? '' }
}

const nothingLost = (detail: string): Failure =>
  new Failure('integrity.nothing_lost', `the log agrees with its checkpoints: ${detail}`, {
    advice: 'There is no loss to accept. "svc integrity" shows what else may be wrong.',
  })
