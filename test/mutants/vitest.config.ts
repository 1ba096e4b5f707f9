import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

import { defineConfig } from 'vitest/config'
import {
  BaseSequencer,
  type Reporter,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'

import { seedOfRun } from '../generated-seed.ts'
import { bundledThreads, PROGRAMS_FOLDER, translatedModules } from '../programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = process.env['SVC_MUTANTS_FOLDER'] ?? 'src'
/** Longer tests of a folder are left out, if others look at the same code. */
const SECONDS_MAX = FOLDER === 'src/surfaces/http' ? 15 : 40
/** StrykerJS runs tests in threads, and only the main thread can start the process of a backtest. */
const NEED_PROCESSES = /\/backtests(-of-file)?\.test\.ts$/

/** Seconds of each long test file: the others are quick. */
const DURATIONS = JSON.parse(readFileSync(join(ROOT, 'test/durations.json'), 'utf8')) as Readonly<
  Record<string, number>
>

const secondsOf = (file: string): number => DURATIONS[file] ?? 0

/** Other folders whose quick tests look at the same code from outside, such as routes at the views of core. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  'src/core': ['src/engine', 'src/backtest', 'src/surfaces/http/routes'],
  'src/engine': ['src/compose', 'src/surfaces/http/routes'],
}
const ALSO_SECONDS_MAX = FOLDER === 'src/engine' ? 2 : 1

/** Longer tests of other folders whose subject is code of this one. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  'src/adapters/storage': [
    'src/compose/draft-names.test.ts',
    'src/engine/integrity/beside-the-events.test.ts',
    'src/engine/integrity/derived-data.test.ts',
    'src/surfaces/http/routes/proofs.test.ts',
    'src/surfaces/http/stream/foreign.test.ts',
    'test/postgres/job-queue.test.ts',
  ],
  'src/engine': ['src/surfaces/http/as-of.test.ts', 'src/surfaces/http/routes/ended-records.test.ts'],
  'src/surfaces/mcp': [
    'src/surfaces/http/access-keys.test.ts',
    'src/surfaces/http/as-of.test.ts',
    'src/surfaces/http/routes/mcp.test.ts',
  ],
}

const isLeftOut = (file: string): boolean =>
  file.startsWith('src/surfaces/http/') && NEED_PROCESSES.test(file)

const testsIn = (folder: string, secondsMax: number): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.test.ts') && secondsOf(file) <= secondsMax && !isLeftOut(file))

/** By their numbers, as StrykerJS has written them into the files of this copy. */
const fileOfMutant: ReadonlyMap<string, string> = new Map(
  readdirSync(join(ROOT, FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${FOLDER}/${name.replaceAll('\\', '/')}`)
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/stryMutAct_9fa48\("(\d+)"\)/g)].map(
        ([, id = '']) => [id, file] as const,
      ),
    ),
)

/** Most mutants are noticed by a test beside them, or by a quick one, and the first that notices one ends its run. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { activeMutant = '' } = this.ctx.getRootProject().getProvidedContext()
    const mutated = fileOfMutant.get(activeMutant) ?? ''
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const test = moduleId.slice(ROOT.length + 1).replaceAll('\\', '/')
      return 1000 * distance(test, mutated) + secondsOf(test)
    }
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

/** From 0 for the test of the file itself to 2 for one in another folder. A recorded contract is near to every file. */
const distance = (test: string, file: string): number => {
  if (test.replace(/\.test\.ts$/, '.ts') === file) return 0
  return dirname(test) === dirname(file) || test.endsWith('-contract.test.ts') ? 1 : 2
}

/** StrykerJS looks at tests alone: a file that does not load, or whose preparation fails, would notice nothing. */
class FailedFiles implements Reporter {
  #vitest: Vitest | null = null

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestModuleEnd(module: TestModule): void {
    for (const error of module.errors()) this.#vitest?.state.catchError(error, 'Unhandled Error')
  }
}

/** The fast tests of one folder, which StrykerJS runs against the mutants of this folder. */
export default defineConfig({
  plugins: [translatedModules(), bundledThreads()],
  test: {
    include: [
      ...testsIn(FOLDER, SECONDS_MAX),
      ...(ALSO[FOLDER] ?? []).flatMap((folder) => testsIn(folder, ALSO_SECONDS_MAX)),
      ...(FURTHER[FOLDER] ?? []),
    ],
    globalSetup: './test/programs.ts',
    setupFiles: ['./test/generated.setup.ts', './test/mutants/mutant.setup.ts'],
    execArgv: ['--import', pathToFileURL(join(import.meta.dirname, 'thread-coverage.mjs')).href],
    provide: { programs: PROGRAMS_FOLDER, seed: seedOfRun() },
    reporters: [new FailedFiles()],
    isolate: false,
    sequence: { sequencer: NearestFirst },
    server: { deps: { external: [/\/signal-engine-programs-\d+\//] } },
    // A mutant whose effect is that nothing happens is noticed only after this time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
