import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { seedOfRun } from './test/generated-seed.ts'
import { bundledThreads, PROGRAMS_FOLDER, translatedModules } from './test/programs.ts'

/** Seconds of each long test file, written by `npm test -- --record`. */
const DURATIONS = JSON.parse(
  readFileSync(new URL('test/durations.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, number>>

/** Starts the longest files first, so that none is left alone on one core at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => secondsOf(other) - secondsOf(one))
  }
}

const secondsOf = ({ moduleId }: TestSpecification): number =>
  DURATIONS[moduleId.slice(import.meta.dirname.length + 1).replaceAll('\\', '/')] ?? 0

export default defineConfig({
  plugins: [translatedModules(), bundledThreads()],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    globalSetup: './test/programs.ts',
    setupFiles: './test/generated.setup.ts',
    provide: { programs: PROGRAMS_FOLDER, seed: seedOfRun() },
    pool: 'forks',
    // No module remembers anything, so tests share processes: most of a small test's time was a new one.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Four more than can run: while some wait for a lease, a disk or a process, others work.
    maxWorkers: availableParallelism() + 4,
    server: { deps: { external: [/\/signal-engine-programs-\d+\//] } },
    // Only for what hangs: a busy machine may take many times as long as a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
