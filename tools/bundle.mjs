/**
 * Bundles TypeScript into a few files that Node loads quickly: `node tools/bundle.mjs service|bench|simulation
 * <folder>`.
 * All files are in one folder, so that code finds the threads and processes it starts in its own folder.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Threads and child processes: `*-thread.ts` and `*-process.ts`. */
const PROGRAM = /-(thread|process)\.ts$/

const MODULE = /(?<!\.test|\.d)\.ts$/

/** `new URL('./writer-thread.ts', import.meta.url)`, or a call with the same two arguments. */
const REFERENCE = /'(?:\.\/)?([\w-]+-(?:thread|process))\.[tj]s'(?=,\s*import\.meta\.url)/g

/** Name in the bundle: `src/adapters/storage/sqlite/writer-thread.ts` is `adapters-storage-sqlite-writer-thread`. */
export const bundledName = (file) =>
  file
    .replaceAll('\\', '/')
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .replaceAll('/', '-')

const filesIn = (folder, pattern) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))

export const programsIn = (...folders) => folders.flatMap((folder) => filesIn(folder, PROGRAM))

/** Packages that stay in node_modules, because they are native, optional, or rarely loaded. */
const EXTERNAL = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@photostructure/sqlite',
  'ccxt',
  'jiti',
  'pg',
]

/** Writes the entries and their shared modules to the folder. */
export const bundle = async (entries, folder) => {
  const bundled = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((file) => [bundledName(file), join(ROOT, file)])),
    platform: 'node',
    transform: { target: 'es2023' },
    external: EXTERNAL,
    // A file shared by several entries may export more than one of them does.
    preserveEntrySignatures: 'allow-extension',
    plugins: [programReferences()],
  })
  await bundled.write({
    dir: folder,
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: loadedTogether(entries), debugName: 'loaded together' }],
    },
  })
  await bundled.close()
}

/**
 * Modules that commands always load together form one file, named by the key: Node takes about a millisecond for each
 * file that it loads. The keys are in the order in which a command needs them.
 */
const TOGETHER = {
  start: ['src/cli.ts', 'src/main.ts'],
  commands: ['src/compose/command-dependencies.ts'],
  store: ['src/compose/store.ts', 'src/engine/integrity/verify.ts'],
}

/** Threads, and the processes of strategies, load little: what one of them needs stays apart. */
const APART = /-thread\.ts$|(?:line|own-code|backtest)-process\.ts$/

const loadedTogether = (entries) => {
  const entryIds = new Set(entries.map((file) => join(ROOT, file)))
  const apart = entries.filter((file) => APART.test(file))
  let reached = null
  return (id, context) => {
    reached ??= {
      apart: reachedFrom(apart, context),
      together: Object.entries(TOGETHER).map(([name, files]) => [name, reachedFrom(files, context)]),
    }
    if (reached.apart.has(id) || entryIds.has(id)) return null
    return reached.together.find(([, modules]) => modules.has(id))?.[0] ?? null
  }
}

/** The modules and their static imports. */
const reachedFrom = (files, context) => {
  const modules = new Set()
  const add = (id) => {
    const module = modules.has(id) ? null : context.getModuleInfo(id)
    if (module === null) return
    modules.add(id)
    module.importedIds.forEach(add)
  }
  for (const file of files) add(join(ROOT, file))
  return modules
}

/** Writes every module of the folders except tests as a separate file, which Node can import. */
export const translate = async (folders, folder, programsFolder) => {
  const files = folders.flatMap((name) => filesIn(name, MODULE))
  const translated = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ''), join(ROOT, file)])),
    platform: 'node',
    treeshake: false,
    transform: { target: 'es2023' },
    external: /^(?!@oxc-project\/)[@\w]/,
    plugins: [programReferences(programsFolder), sourceLocation()],
  })
  await translated.write({
    dir: folder,
    preserveModules: true,
    preserveModulesRoot: ROOT,
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].js',
  })
  await translated.close()
}

/** Makes a translated module find the files beside its source. */
const sourceLocation = () => ({
  name: 'source-location',
  transform: (code, id) =>
    id.endsWith('.ts') && code.includes('import.meta.')
      ? {
          code: code
            .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
            .replaceAll('import.meta.dirname', JSON.stringify(dirname(id))),
          map: null,
        }
      : undefined,
})

/**
 * Makes references to threads and processes point to the bundled file. Code that Vitest runs unbundled points to the
 * folder with the bundles.
 */
export const programReferences = (folder = null) => ({
  name: 'program-references',
  enforce: 'pre',
  transform: (code, id) => {
    if (!id.endsWith('.ts') || code.match(REFERENCE) === null) return undefined
    const named = code.replaceAll(
      REFERENCE,
      (_, name) => `'./${bundledName(relative(ROOT, join(dirname(id), name)))}.js'`,
    )
    if (folder === null) return { code: named, map: null }
    const url = pathToFileURL(join(folder, `${bundledName(relative(ROOT, id))}.js`)).href
    return { code: named.replaceAll('import.meta.url', JSON.stringify(url)), map: null }
  },
})

const BUNDLES = {
  service: () => ['src/cli.ts', 'src/main.ts', ...programsIn('src')],
  bench: () => ['bench/run.ts', ...programsIn('src', 'bench')],
  simulation: () => ['test/simulation/whole-engine/simulate-process.ts', ...programsIn('src')],
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, folder] = process.argv.slice(2)
  await bundle(BUNDLES[name](), folder)
  if (name === 'service') {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const args = [join(folder, 'surfaces-http-openapi-process.js'), version, join(folder, 'openapi.json')]
    execFileSync(process.execPath, args, { stdio: 'inherit' })
    const compile = (project, output) => {
      const compiler = ['node_modules/typescript/bin/tsc', '-p', project, '--outDir', join(folder, output)]
      execFileSync(process.execPath, compiler, { cwd: ROOT, stdio: 'inherit' })
    }
    // Types for editors in which strategies are written.
    compile('tsconfig.types.json', 'types')
    // JavaScript with types: Node 20 does not load TypeScript, and no version of Node loads it from node_modules.
    compile('tsconfig.client.json', 'client')
  }
}
