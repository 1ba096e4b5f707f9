import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Set by StrykerJS. */
    readonly mode: 'dry-run' | 'mutant'
    /** Set by StrykerJS: the number of the mutant. */
    readonly activeMutant?: string
  }
}

type Hits = Record<string, number>

/** How often each mutant was reached: by each test, and outside of tests. */
interface Coverage {
  readonly static: Hits
  readonly perTest: Record<string, Hits>
}

/** What StrykerJS keeps in the thread of the tests. */
interface Stryker {
  readonly currentTestId?: string
  mutantCoverage?: Coverage
}

const activeMutant = inject('activeMutant')

// Threads and processes that a test starts have the mutant, too.
if (inject('mode') === 'mutant' && activeMutant !== undefined) {
  beforeAll(() => {
    process.env['__STRYKER_ACTIVE_MUTANT__'] = activeMutant
  })
}

// What such threads reach counts for the test that started them: see `thread-coverage.mjs`.
if (inject('mode') === 'dry-run') {
  const stryker = (globalThis as { __stryker__?: Stryker }).__stryker__
  const folder = mkdtempSync(join(tmpdir(), 'svc-coverage-'))
  process.env['SVC_MUTANTS_COVERAGE'] = folder
  beforeEach(() => {
    process.env['SVC_MUTANTS_TEST'] = stryker?.currentTestId ?? ''
  })
  afterEach(() => {
    delete process.env['SVC_MUTANTS_TEST']
  })
  afterAll(() => {
    const coverage = stryker?.mutantCoverage
    for (const name of readdirSync(folder)) {
      const found = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage
      if (coverage === undefined) continue
      add(coverage.static, found.static)
      for (const [test, hits] of Object.entries(found.perTest)) add((coverage.perTest[test] ??= {}), hits)
    }
    rmSync(folder, { recursive: true })
  })
}

const add = (to: Hits, hits: Hits): void => {
  for (const [mutant, count] of Object.entries(hits)) to[mutant] = (to[mutant] ?? 0) + count
}
