import { readdirSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'vite'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the programs are that tests begin: see `programOf`. */
    readonly programs: string
  }
}

/** Of this run alone. */
export const PROGRAMS_FOLDER = join(tmpdir(), `signal-engine-programs-${process.pid}`)

/**
 * Vitest translates what it imports, but not the threads and processes that a test begins. They are built once for all
 * tests, laid out as the tree is: a file each and what they share, they start in a fraction of the time.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  // A run that was broken off may have left one, under a number that came around again.
  await rm(PROGRAMS_FOLDER, { recursive: true, force: true })
  await mkdir(PROGRAMS_FOLDER)
  await writeFile(join(PROGRAMS_FOLDER, 'package.json'), '{"type":"module"}')
  await symlink(join(ROOT, 'node_modules'), join(PROGRAMS_FOLDER, 'node_modules'))
  await buildPrograms()
  project.onTestsRerun(buildPrograms)
  return () => rm(PROGRAMS_FOLDER, { recursive: true, force: true })
}

/** Lets a module that begins a thread believe that it is built, so that it begins the built one. */
export const builtThreads = (): Plugin => ({
  name: 'built-threads',
  enforce: 'pre',
  transform: (code, id) =>
    BEGINS_THREAD.test(code) && !id.endsWith('.test.ts')
      ? code.replaceAll('import.meta.url', JSON.stringify(builtUrlOf(id)))
      : undefined,
})

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const BEGINS_THREAD = /'\.\/[\w-]+-thread\.ts'/

const PROGRAM = /-(thread|process)\.ts$/

const builtUrlOf = (id: string): string =>
  pathToFileURL(join(PROGRAMS_FOLDER, relative(ROOT, id).replace(/\.ts$/, '.js'))).href

const buildPrograms = async (): Promise<void> => {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    plugins: [builtThreads()],
    build: {
      ssr: true,
      target: 'node20',
      outDir: PROGRAMS_FOLDER,
      emptyOutDir: false,
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(programs().map((file) => [file.replace(/\.ts$/, ''), join(ROOT, file)])),
        output: { entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js' },
      },
    },
  })
}

const programs = (): readonly string[] =>
  ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((file) => PROGRAM.test(file))
