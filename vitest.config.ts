import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { FIRST_CLUSTER } from './test/postgres/server.fixture.ts'
import { bundledThreads, PROGRAMS_FOLDER } from './test/programs.ts'
import { quickImports } from './test/quick-imports.ts'

/** The longest files start first, so that none is left alone on one core at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

/** Files that mostly wait: for a lease to end, for a minute to begin, for a process that was killed. */
const WAITING = [
  'test/leadership/frozen-leader.test.ts',
  'test/interface/market.test.ts',
  'test/browser/connection.test.ts',
  'test/interface/inherited-names.test.ts',
  'test/leadership/database-away.test.ts',
  'test/simulation/kill-orders.test.ts',
  'test/leadership/rolling-restart.test.ts',
  'test/crash/kill.test.ts',
  'test/postgres/workers.test.ts',
  'test/interface/clock.test.ts',
]

/** Files with more than about twenty seconds of processor time. */
const WORKING = [
  'test/interface/backup.test.ts',
  'test/browser/pages.test.ts',
  'test/tamper/forger.test.ts',
  'src/backtest/quiet.test.ts',
  'src/backtest/walk.test.ts',
  'src/surfaces/http/openapi-fuzz.test.ts',
  'test/simulation/whole-engine/simulation.test.ts',
  'test/interface/lost-files.test.ts',
  'src/surfaces/cli/commands/backtest-report.test.ts',
  'src/adapters/strategies/files/own-strategies.test.ts',
  'test/simulation/order-crashes.test.ts',
  'src/adapters/brokers/ccxt/',
  'test/interface/command-line-signals.test.ts',
  'src/engine/audit/audit-decisions.test.ts',
  'src/adapters/storage/postgres/postgres-log.test.ts',
  'src/adapters/storage/sqlite/sqlite-log.test.ts',
]

/** In turn, so that at any time some wait while others work; then what needs the whole system, then all others. */
const FIRST = [
  ...WAITING.flatMap((waiting, index) => [waiting, WORKING[index] ?? waiting]),
  ...WORKING,
  'test/',
]

const rankOf = ({ moduleId }: TestSpecification): number => {
  const path = moduleId.slice(import.meta.dirname.length + 1)
  const rank = FIRST.findIndex((start) => path.startsWith(start))
  return rank === -1 ? FIRST.length : rank
}

export default defineConfig({
  plugins: [bundledThreads(), quickImports()],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
    globalSetup: './test/programs.ts',
    provide: { programs: PROGRAMS_FOLDER },
    env: { [FIRST_CLUSTER]: join(PROGRAMS_FOLDER, 'postgres-data') },
    pool: 'forks',
    // No module remembers anything, so tests share processes: most of a small test's time was a new one.
    isolate: false,
    // Packages are imported as Node imports them: what Vitest puts around some of them is slow.
    deps: { interopDefault: false },
    sequence: { sequencer: LongestFirst },
    // Two more than can run: while some wait for a socket, a disk or a process, others work.
    maxWorkers: availableParallelism() + 2,
    // Only for what hangs: a busy machine may take many times as long as a quiet one.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
})
