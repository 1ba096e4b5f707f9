import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { bundledThreads, PROGRAMS_FOLDER } from './test/programs.ts'

/** Tests of the whole system take longest: started first, they do not leave one core idle at the end. */
class WholeSystemFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(needsSystem), ...sorted.filter((file) => !needsSystem(file))]
  }
}

const WHOLE_SYSTEM = `${import.meta.dirname}/test/`

const needsSystem = ({ moduleId }: TestSpecification): boolean => moduleId.startsWith(WHOLE_SYSTEM)

export default defineConfig({
  plugins: [bundledThreads()],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    globalSetup: './test/programs.ts',
    provide: { programs: PROGRAMS_FOLDER },
    pool: 'forks',
    // No module remembers anything, so tests share processes: most of a small test's time was a new one.
    isolate: false,
    sequence: { sequencer: WholeSystemFirst },
    // One more than can run: while some wait for a socket, a disk or a process, others work.
    maxWorkers: availableParallelism() + 1,
    // Only for what hangs: a busy machine may take many times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
