import { writeFileSync } from 'node:fs'
import process from 'node:process'

import { closingLine, honest } from './steps.mjs'

/** Names the file for the counts when the test command prints the closing line itself. */
export const COUNTS_FILE_VARIABLE = 'SIGNAL_ENGINE_TEST_COUNTS'

/** A vitest reporter that ends the output with `N passed, N failed`. */
export default class ClosingLineReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = countsOf(modules, unhandledErrors)
    const countsFile = process.env[COUNTS_FILE_VARIABLE]
    if (countsFile !== undefined) return writeFileSync(countsFile, JSON.stringify(counts))
    // On exit, since other reporters print their summaries at the end of the run too.
    process.on('exit', (exitCode) => process.stdout.write(closingLine(honest(exitCode, counts))))
  }
}

/** A file that does not load and a hook that throws are failures of their own: they fail no test. */
const countsOf = (modules, unhandledErrors) => {
  const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
  for (const module of modules) {
    for (const holder of [module, ...module.children.allSuites()]) {
      if (holder.errors().length > 0) counts.failed += 1
    }
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      counts[state === 'passed' || state === 'failed' ? state : 'skipped'] += 1
    }
  }
  return counts
}
