import type { EngineLimits } from './command-queue.ts'
import { answer, type Caller, type Plan, type Request } from './plan.ts'

/** A command whose caller waits. */
export type Waiting = Request & Caller

/** Commands that are stored together. */
export interface Batch {
  readonly waiting: readonly Waiting[]
  readonly planned: Plan
  readonly settled: Promise<void>
}

/**
 * A batch with a command of the leader is stored only under its token. Should a process have commands of two of its
 * leases, the older token counts: it is over, so its commands fail and the others are decided again.
 */
export const tokenOf = (waiting: readonly Waiting[]): number | null => {
  const tokens = waiting.flatMap(({ leaderToken }) => leaderToken ?? [])
  return tokens.length === 0 ? null : Math.min(...tokens)
}

export const answerAll = ({ waiting, planned }: Batch): void => {
  for (const [index, caller] of waiting.entries()) answer(caller, planned.answers[index])
}

/**
 * A share of all commands, those in flight included: clients that are answered ask again, so batches of equal size
 * keep the pipeline full. While one is stored, another is signed and a third is decided.
 */
export const batchSizeOf = (
  queued: number,
  inFlight: readonly Batch[],
  { batchMax, batchMin, inFlightMax }: EngineLimits,
): number => {
  const waiting = inFlight.reduce((sum, batch) => sum + batch.waiting.length, queued)
  return Math.min(batchMax, Math.max(batchMin, Math.ceil(waiting / Math.max(1, inFlightMax - 1))))
}
