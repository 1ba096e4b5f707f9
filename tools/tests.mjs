import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

import { parseCLI, startVitest } from 'vitest/node'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DURATIONS = fileURLToPath(new URL('../test/durations.json', import.meta.url))

/** Files below this duration are not worth a line: they run in any order. */
const RECORDED_SECONDS_MIN = 1

/** Runs Vitest with the arguments of its command line, and returns how many tests passed, failed and were skipped. */
export const runTests = async (args, { records = false } = {}) => {
  const { filter, options } = parseCLI(['vitest', 'run', ...args])
  const vitest = await startVitest('test', filter, options)
  const counts = countsOf(vitest.state)
  if (records) recordDurations(vitest.state)
  await vitest.close()
  // A run that ended badly has failed, whatever was counted.
  return process.exitCode && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

/** A file that does not load and a hook that throws are failures of their own: no test fails with them. */
const countsOf = (state) => {
  const counts = { passed: 0, failed: state.getUnhandledErrors().length, skipped: 0 }
  for (const module of state.getTestModules()) {
    for (const suite of [module, ...module.children.allSuites()]) {
      if (suite.errors().length > 0) counts.failed += 1
    }
    for (const test of module.children.allTests()) {
      const { state: result } = test.result()
      counts[result === 'passed' || result === 'failed' ? result : 'skipped'] += 1
    }
  }
  return counts
}

/** Writes the seconds of each long test file. `vitest.config.ts` starts the longest first. */
const recordDurations = (state) => {
  const seconds = state
    .getTestModules()
    .map((module) => [
      relative(ROOT, module.moduleId).replaceAll('\\', '/'),
      Math.round(module.diagnostic().duration / 1000),
    ])
    .filter(([, duration]) => duration >= RECORDED_SECONDS_MIN)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(seconds), null, 2)}\n`)
}
