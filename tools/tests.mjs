import process from 'node:process'

import { parseCLI, startVitest } from 'vitest/node'

/** Runs Vitest with the arguments of its command line, and returns how many tests passed, failed and were skipped. */
export const runTests = async (args) => {
  const { filter, options } = parseCLI(['vitest', 'run', ...args])
  const vitest = await startVitest('test', filter, options)
  const counts = countsOf(vitest.state)
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
