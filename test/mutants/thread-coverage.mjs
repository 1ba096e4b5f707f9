/**
 * Loaded by every thread of a run with mutants. StrykerJS sees only what the thread of the tests runs: a thread that a
 * test starts writes the mutants that it has reached into a file, for `mutant.setup.ts`.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const { SVC_MUTANTS_COVERAGE: folder, SVC_MUTANTS_TEST: test } = process.env

// Not set in the thread of the tests itself, which sets it for others.
if (folder !== undefined) {
  const stryker = { currentTestId: test }
  globalThis['__stryker__'] = stryker
  process.on('exit', () => {
    const { mutantCoverage } = stryker
    // A thread may end after the tests of its file.
    if (mutantCoverage !== undefined && existsSync(folder))
      writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(mutantCoverage))
  })
}
