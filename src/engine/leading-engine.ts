import { FencedError } from './command-queue.ts'
import type { Engine } from './engine.ts'
import type { Executor } from './plan.ts'

/** The engine for tasks of the leader: feeds, schedule and order routing. */
export type LeadingEngine = Pick<Engine, 'eventBus' | 'log' | 'execute'> & Executor

/** Adds the token of the lease to every command. `onFenced` is called if another process leads by now. */
export const leadingEngine = (engine: Engine, leaderToken: number, onFenced: () => void): LeadingEngine => ({
  get state() {
    return engine.state
  },
  log: engine.log,
  eventBus: engine.eventBus,
  execute: async (command, options) => {
    try {
      return await engine.execute(command, { ...options, leaderToken })
    } catch (error) {
      if (error instanceof FencedError) onFenced()
      throw error
    }
  },
})
