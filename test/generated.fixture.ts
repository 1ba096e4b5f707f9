import { inject } from 'vitest'

/** With `npm test -- --full`: generated tests run all that they can, without a budget. */
export const isFull = process.env['SVC_TEST_FULL'] === '1'

/** How much of a generated test runs: with `--full`, or in every run of the tests. */
export const volume = (volumes: { readonly normal: number; readonly full: number }): number =>
  isFull ? volumes.full : volumes.normal

/** The seed of this run, in the range of one word. `npm test` prints it; SVC_TEST_SEED repeats it. */
export const runSeed = (): number => inject('seed')

/** The `index`th seed that a generated test takes in this run. */
export const seedAt = (index: number): number => (runSeed() + index * 7919) % SEEDS

const SEEDS = 2 ** 31

/** Processor time of this process, and of its threads. */
export interface Budget {
  isSpent(): boolean
}

/** Counted in processor time: a busy machine does not run less, it only takes longer. */
export const processorBudget = (seconds: number): Budget => {
  const before = process.cpuUsage()
  return {
    isSpent: () => {
      const { user, system } = process.cpuUsage(before)
      return user + system >= seconds * 1_000_000
    },
  }
}
