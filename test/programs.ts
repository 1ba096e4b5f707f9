import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the programs are that tests start: see `programOf`. */
    readonly programs: string
  }
}

interface BundleTool {
  readonly bundle: (entries: readonly string[], folder: string) => Promise<void>
  readonly programsIn: (...folders: readonly string[]) => readonly string[]
  readonly programReferences: (folder: string) => Plugin
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { bundle, programsIn, programReferences } = (await import(
  new URL('../tools/bundle.mjs', import.meta.url).href
)) as BundleTool

/** Of this run alone. */
export const PROGRAMS_FOLDER = join(tmpdir(), `signal-engine-programs-${process.pid}`)

/** Lets modules that Vitest imports start the bundled threads. */
export const bundledThreads = (): Plugin => programReferences(PROGRAMS_FOLDER)

/** Vitest translates what it imports, but not the threads and processes that a test starts: they are bundled once. */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const bundlePrograms = (): Promise<void> => bundle(programsIn('src', 'test'), PROGRAMS_FOLDER)
  // A run that was interrupted may have left one under the same process id.
  await rm(PROGRAMS_FOLDER, { recursive: true, force: true })
  await mkdir(PROGRAMS_FOLDER)
  await writeFile(join(PROGRAMS_FOLDER, 'package.json'), '{"type":"module"}')
  await symlink(join(ROOT, 'node_modules'), join(PROGRAMS_FOLDER, 'node_modules'), 'junction')
  await bundlePrograms()
  project.onTestsRerun(bundlePrograms)
  return () => rm(PROGRAMS_FOLDER, { recursive: true, force: true })
}
