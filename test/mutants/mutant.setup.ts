import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { afterAll, beforeAll, inject, type RunnerTestSuite } from 'vitest'

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

if (inject('mode') === 'dry-run') {
  const stryker = ((globalThis as Readonly<Record<string, unknown>>)['__stryker__'] ?? {}) as Stryker
  const folder = mkdtempSync(join(tmpdir(), 'svc-coverage-'))
  process.env['SVC_MUTANTS_COVERAGE'] = folder

  // StrykerJS would run every test for a mutant that a hook of one file reaches: no test is running then.
  let current: string | undefined
  beforeAll(() => {
    Object.defineProperty(stryker, 'currentTestId', {
      configurable: true,
      get: () => current ?? HOOKS,
      set: (test: string | undefined) => {
        current = test
        process.env['SVC_MUTANTS_TEST'] = current ?? HOOKS
      },
    })
    process.env['SVC_MUTANTS_TEST'] = HOOKS
  })
  // oxlint-disable-next-line no-empty-pattern -- the form that Vitest requires
  afterAll(({}, file) => {
    delete process.env['SVC_MUTANTS_TEST']
    Object.defineProperty(stryker, 'currentTestId', { configurable: true, writable: true, value: undefined })
    const coverage = stryker.mutantCoverage ?? { static: {}, perTest: {} }
    stryker.mutantCoverage = coverage
    // What a thread reaches counts for the test that started it: see `thread-coverage.mjs`.
    for (const name of readdirSync(folder))
      addCoverage(coverage, JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage)
    rmSync(folder, { recursive: true })
    const ofHooks = coverage.perTest[HOOKS] ?? {}
    delete coverage.perTest[HOOKS]
    for (const test of testIdsIn(file, '')) add(hitsOf(coverage, `${file.file.filepath}#${test}`), ofHooks)
  })
}

/** In place of a test: its mutants count for each test of the file. */
const HOOKS = 'hooks'

/** The names of tests as StrykerJS joins them. */
const testIdsIn = ({ tasks }: Pick<RunnerTestSuite, 'tasks'>, prefix: string): readonly string[] =>
  tasks.flatMap((task) => {
    const name = `${prefix} ${task.name}`.trim()
    return task.type === 'suite' ? testIdsIn(task, name) : [name]
  })

const addCoverage = (to: Coverage, found: Coverage): void => {
  add(to.static, found.static)
  for (const [test, hits] of Object.entries(found.perTest)) add(hitsOf(to, test), hits)
}

const hitsOf = ({ perTest }: Coverage, test: string): Hits => {
  const hits = perTest[test] ?? {}
  perTest[test] = hits
  return hits
}

const add = (to: Hits, hits: Hits): void => {
  for (const [mutant, count] of Object.entries(hits)) to[mutant] = (to[mutant] ?? 0) + count
}
