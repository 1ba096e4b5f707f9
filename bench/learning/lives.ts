import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { LifePlan, LifeReport } from './life.ts'

/** Lives all of them, on every core; the order of the reports is that of the plans. */
export const liveAll = async (
  plans: readonly LifePlan[],
  onProgress: (done: number) => void,
): Promise<readonly LifeReport[]> => {
  const reports: LifeReport[] = []
  let next = 0
  let done = 0
  const work = async (): Promise<void> => {
    const thread = new Worker(new URL('life-thread.ts', import.meta.url))
    for (;;) {
      const place = next
      const plan = plans[place]
      if (plan === undefined) break
      next += 1
      const answered = once(thread, 'message')
      thread.postMessage(plan, [])
      const [report] = (await answered) as [LifeReport]
      reports[place] = report
      done += 1
      onProgress(done)
    }
    await thread.terminate()
  }
  await Promise.all(Array.from({ length: Math.min(plans.length, availableParallelism()) }, work))
  return reports
}
