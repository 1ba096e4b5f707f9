import process from 'node:process'

/**
 * Runs named steps one after the other, a line and a time for each; what a failed one printed is shown in full.
 * A failure does not stop the rest, so that people see everything at once. `run` answers undefined or the failure.
 */
export const runSteps = async (steps, print = (text) => process.stdout.write(text)) => {
  let passed = 0
  let failed = 0
  for (const { name, run } of steps) {
    const startedMs = performance.now()
    const failure = await run()
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    print(`${failure === undefined ? '✓' : '✗'} ${name.padEnd(14)} ${seconds.padStart(6)} s\n`)
    if (failure === undefined) {
      passed += 1
      continue
    }
    failed += 1
    print(`\n${failure.trimEnd()}\n\n`)
  }
  return { passed, failed, skipped: 0 }
}

export const sumOf = (...counts) =>
  counts.reduce((sum, { passed, failed, skipped }) => ({
    passed: sum.passed + passed,
    failed: sum.failed + failed,
    skipped: sum.skipped + skipped,
  }))

/** A run that ended badly has failed, whatever it counted. */
export const honest = (exitCode, counts) =>
  exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts

/** The last line of the test command, for people and for machines. */
export const closingLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`
