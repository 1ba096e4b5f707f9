import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the programs that tests start: see `programOf`. */
    readonly programs: string
  }
}

interface BundleTool {
  readonly bundle: (entries: readonly string[], folder: string) => Promise<void>
  readonly translate: (folders: readonly string[], folder: string, programsFolder: string) => Promise<void>
  readonly programsIn: (...folders: readonly string[]) => readonly string[]
  readonly programReferences: (folder: string) => Plugin
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { bundle, translate, programsIn, programReferences } = (await import(
  new URL('../tools/bundle.mjs', import.meta.url).href
)) as BundleTool

/** Folder of this run only. */
export const PROGRAMS_FOLDER = join(tmpdir(), `signal-engine-programs-${process.pid}`)

/** The modules that tests import, translated. */
const MODULES_FOLDER = join(PROGRAMS_FOLDER, 'modules')

/**
 * Makes Node itself import the modules of tests, translated beforehand: calls between modules are then as fast as in
 * the build, and need no request to the process of Vitest. A module that Vitest must import itself, to replace a part
 * of it, is imported by its path from the root. In watch mode Vitest imports everything, to know which tests a change
 * affects.
 */
export const translatedModules = (): Plugin => {
  let watches = false
  return {
    name: 'translated-modules',
    enforce: 'pre',
    configureVitest: ({ vitest }) => {
      watches = vitest.config.watch
    },
    resolveId: (source, importer) => {
      if (watches || importer === undefined || !source.startsWith('.') || isModule(importer)) return undefined
      const file = resolve(dirname(importer), source)
      return isModule(file) ? join(MODULES_FOLDER, relative(ROOT, file).replace(/\.ts$/, '.js')) : undefined
    },
  }
}

const isModule = (file: string): boolean => /^(?:src|test)[\\/].*(?<!\.test)\.ts$/.test(relative(ROOT, file))

/** Lets modules that Vitest imports start the bundled threads. */
export const bundledThreads = (): Plugin => programReferences(PROGRAMS_FOLDER)

/**
 * Bundles the threads and processes that tests start, once per run. Vitest does not translate them, as it does its
 * imports.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const prepare = async (): Promise<void> => {
    await bundle(programsIn('src', 'test'), PROGRAMS_FOLDER)
    await translate(['src', 'test'], MODULES_FOLDER, PROGRAMS_FOLDER)
  }
  const { seed } = project.config.provide
  process.stdout.write(`generated tests begin at seed ${seed}: SVC_TEST_SEED=${seed} repeats it\n`)
  // An interrupted run with the same process id may have left a folder.
  await rm(PROGRAMS_FOLDER, { recursive: true, force: true })
  await mkdir(PROGRAMS_FOLDER)
  await writeFile(join(PROGRAMS_FOLDER, 'package.json'), '{"type":"module"}')
  await symlink(join(ROOT, 'node_modules'), join(PROGRAMS_FOLDER, 'node_modules'), 'junction')
  await prepare()
  project.onTestsRerun(prepare)
  return () => rm(PROGRAMS_FOLDER, { recursive: true, force: true })
}
