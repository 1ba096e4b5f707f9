import { availableParallelism } from 'node:os'

import { defineConfig } from 'vitest/config'

const CORE_TESTS = 'src/core/**/*.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    // Two even on a small machine: while one test waits for a socket or a disk, another one works.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', './tools/closing-line-reporter.mjs'],
    projects: [
      {
        extends: true,
        // Core remembers nothing, so its tests may share a process: most of a small test's time is a new one.
        test: { name: 'core', include: [CORE_TESTS], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'house',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
          exclude: [CORE_TESTS],
          // For threads and processes that a test begins from source: vitest translates only what it imports itself.
          execArgv: ['--import', new URL('tools/typescript-loader.mjs', import.meta.url).href],
        },
      },
    ],
  },
})
