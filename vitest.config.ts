import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { builtThreads, PROGRAMS_FOLDER } from './test/programs.ts'

/** What needs the whole house takes longest: begun first, it does not keep everybody waiting at the end. */
class WholeHouseFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(needsHouse), ...sorted.filter((file) => !needsHouse(file))]
  }
}

const WHOLE_HOUSE = `${import.meta.dirname}/test/`

const needsHouse = ({ moduleId }: TestSpecification): boolean => moduleId.startsWith(WHOLE_HOUSE)

export default defineConfig({
  plugins: [builtThreads()],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    globalSetup: './test/programs.ts',
    provide: { programs: PROGRAMS_FOLDER },
    pool: 'forks',
    // No module remembers anything, so tests share processes: most of a small test's time was a new one.
    isolate: false,
    sequence: { sequencer: WholeHouseFirst },
    // One more than can run: while some wait for a socket, a disk or a process, others work.
    maxWorkers: availableParallelism() + 1,
    // Only for what hangs: a busy machine may take many times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    reporters: ['default', './tools/closing-line-reporter.mjs'],
  },
})
