import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { bundledThreads, PROGRAMS_FOLDER, translatedModules } from './test/programs.ts'

/** The longest files start first, so that none is left alone on one core at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

/** Files with more than about ten seconds of processor time, and the tests of the whole system. */
const LONGEST = [
  'test/simulation/kill-orders.test.ts',
  'test/simulation/whole-engine/simulation.test.ts',
  'test/interface/market.test.ts',
  'test/interface/access.test.ts',
  'src/surfaces/http/openapi-fuzz.test.ts',
  'test/interface/log.test.ts',
  'src/backtest/walk.test.ts',
  'src/backtest/quiet.test.ts',
  'test/interface/command-line.test.ts',
  'src/adapters/strategies/files/own-strategies.test.ts',
  'test/crash/kill.test.ts',
  'test/interface/command-line-signals.test.ts',
  'test/browser/pages.test.ts',
  'src/adapters/storage/sqlite/sqlite-log.test.ts',
  'src/surfaces/cli/commands/backtest-report.test.ts',
  'test/',
  'src/surfaces/http/routes/backtests.test.ts',
  'src/surfaces/cli/commands/sweep.test.ts',
  'src/surfaces/http/every-field.test.ts',
  'src/adapters/brokers/ccxt/',
  'src/surfaces/cli/commands/backtest.test.ts',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const path = moduleId.slice(import.meta.dirname.length + 1)
  const rank = LONGEST.findIndex((start) => path.startsWith(start))
  return rank === -1 ? LONGEST.length : rank
}

export default defineConfig({
  plugins: [translatedModules(), bundledThreads()],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    globalSetup: './test/programs.ts',
    provide: { programs: PROGRAMS_FOLDER },
    pool: 'forks',
    // No module remembers anything, so tests share processes: most of a small test's time was a new one.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // One more than can run: while some wait for a socket, a disk or a process, others work.
    maxWorkers: availableParallelism() + 1,
    server: { deps: { external: [/\/signal-engine-programs-\d+\//] } },
    // Only for what hangs: a busy machine may take many times as long as a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
  },
})
