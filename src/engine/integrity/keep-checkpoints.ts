import { setTimeout } from 'node:timers/promises'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Checkpointer, CheckpointStep } from './checkpointer.ts'
import type { IntegrityFault } from './findings.ts'

export interface KeeperDependencies {
  readonly log: Pick<EventLog, 'watch'>
  readonly checkpointer: Checkpointer
  readonly clock: Pick<Clock, 'now'>
  readonly everyMs: number
  /** Called after each checkpoint; the next one waits for it. */
  readonly onSigned?: () => Promise<void>
  /** Called once when checkpointing stops because the log contradicts its checkpoints. */
  readonly onStopped: (fault: IntegrityFault) => void
  readonly onError: (what: string, error: unknown) => void
}

export interface CheckpointKeeper {
  /** Makes a last checkpoint and stops. */
  close(): Promise<void>
}

/** Follows the log and keeps its checkpoints recent, without delaying appends. */
export const keepCheckpoints = (dependencies: KeeperDependencies): CheckpointKeeper => {
  const { checkpointer, clock } = dependencies
  const closing = new AbortController()
  /** Aborted by the next append, and on closing. */
  let news = new AbortController()
  let reported: IntegrityFault | null = null

  const step = async (when: 'due' | 'now'): Promise<CheckpointStep['status']> => {
    try {
      const result = await checkpointer.step(when)
      if (result.status !== 'stopped') reported = null
      else if (reported?.detail !== result.fault.detail) {
        reported = result.fault
        dependencies.onStopped(result.fault)
      }
      if (result.status === 'signed') await dependencies.onSigned?.()
      return result.status === 'signed' && result.behind ? 'catching-up' : result.status
    } catch (error) {
      dependencies.onError('no checkpoint was made', error)
      return 'idle'
    }
  }
  const follow = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      news = new AbortController()
      const startedAt = clock.now()
      const status = await step('due')
      const spentMs = clock.now() - startedAt
      // New events do not shorten a rest, so this work keeps to its share of the processor under load.
      await sleep(Math.max(REST_MS_MIN, spentMs * REST_PER_WORK), closing.signal)
      if (status !== 'catching-up') await sleep(dependencies.everyMs, news.signal)
    }
  }

  const stopWatching = dependencies.log.watch(() => {
    // Aborting again has no effect, but creates an error each time.
    if (!news.signal.aborted) news.abort()
  })
  const following = follow()

  return {
    close: async () => {
      if (closing.signal.aborted) return
      closing.abort()
      news.abort()
      stopWatching()
      await following
      const giveUpAt = clock.now() + CLOSE_MS_MAX
      let status = await step('now')
      while (status === 'catching-up' && clock.now() < giveUpAt) status = await step('now')
    },
  }
}

const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await setTimeout(ms, undefined, { ref: false, signal })
  } catch (error) {
    // Waking early is the purpose of the signal.
    if (!signal.aborted) throw error
  }
}

const REST_MS_MIN = 50
/** Rest per unit of work: at most a tenth of one processor is used. */
const REST_PER_WORK = 9
/** Limit for closing. A process has ten seconds in total to stop, and the next one catches up. */
const CLOSE_MS_MAX = 3000
