/**
 * Bundles TypeScript into a few files that Node loads quickly: `node tools/bundle.mjs service|bench|simulation <folder>`.
 * All files stand side by side in one folder, so that a thread or process is found beside the code that starts it.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Threads and processes of their own: `*-thread.ts` and `*-process.ts`. */
const PROGRAM = /-(thread|process)\.ts$/

const MODULE = /(?<!\.test|\.d)\.ts$/

/** `new URL('./writer-thread.ts', import.meta.url)`, or a call with the same two arguments. */
const REFERENCE = /'(?:\.\/)?([\w-]+-(?:thread|process))\.[tj]s'(?=,\s*import\.meta\.url)/g

/** The name in the bundle: `src/adapters/storage/sqlite/writer-thread.ts` is `adapters-storage-sqlite-writer-thread`. */
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

/** Native, optional, or loaded by few: these stay in node_modules. */
const EXTERNAL = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@fastify/swagger',
  '@fastify/swagger-ui',
  '@photostructure/sqlite',
  'ccxt',
  'jiti',
  'pg',
  'pg-boss',
]

/** Writes the entries, and what they share, to the folder. */
export const bundle = async (entries, folder) => {
  const bundled = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(entries.map((file) => [bundledName(file), join(ROOT, file)])),
    platform: 'node',
    transform: { target: 'es2023' },
    external: EXTERNAL,
    // A file that several entries share may export more than one of them does.
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
 * What commands always load together is one file, under the first of these names: Node takes about a millisecond for each
 * file that it loads. In the order in which a command comes to need it.
 */
const TOGETHER = {
  start: ['src/cli.ts', 'src/main.ts'],
  commands: ['src/compose/command-dependencies.ts'],
  store: ['src/compose/store.ts', 'src/engine/integrity/verify.ts'],
}

/** Threads, and the processes of strategies, load little: what one of them needs stays apart. */
const APART = /-thread\.ts$|line-process\.ts$/

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

/** The modules, and what they import statically. */
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

/** Writes every module of the folders but tests as a file of its own, which Node imports by itself. */
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

/** A translated module finds what is beside its source. */
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
 * Makes references to threads and processes name the bundled file. Code that is not bundled itself, but run by Vitest,
 * names the folder that holds them.
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
    // For editors in which strategies are written.
    compile('tsconfig.types.json', 'types')
    // JavaScript with types: Node 20 does not load TypeScript, and no Node loads it from node_modules.
    compile('tsconfig.client.json', 'client')
  }
}
