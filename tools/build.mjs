import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import process from 'node:process'

import { withSetupLock } from './setup.mjs'
import { runCaptured } from './spawn.mjs'
import { contentHash, readStamp, writeStamp } from './stamp.mjs'

/**
 * What is built: `output` is made anew whenever a name or byte under `inputs` changes. `commandFor` is handed the
 * folder to write into, which stands beside `output` so that relative source maps stay right.
 */
const BUILDS = [
  {
    name: 'service',
    inputs: ['src', 'tsconfig.json', 'tsconfig.build.json', 'package.json'],
    output: 'dist',
    // Types are for the checks: translating alone takes a tenth of the time, and gives the same files.
    commandFor: (folder) => [
      process.execPath,
      ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck', '--outDir', folder],
    ],
  },
  {
    name: 'dashboard',
    inputs: [
      'dashboard/index.html',
      'dashboard/sign-in.html',
      'dashboard/vite.config.mjs',
      'dashboard/public',
      'dashboard/src',
      'package-lock.json',
    ],
    output: 'dashboard/dist',
    // The folder is relative to the dashboard for Vite, and to the root for us.
    commandFor: (folder) => [
      process.execPath,
      [
        'node_modules/vite/bin/vite.js',
        'build',
        'dashboard',
        '--config',
        'dashboard/vite.config.mjs',
        '--outDir',
        basename(folder),
        '--logLevel',
        'warn',
      ],
    ],
  },
]

/** Brings every build up to date. Returns what the failed one printed, or undefined when all is well. */
export const ensureBuilt = async (root, say, builds = BUILDS) => {
  if (builds.every((build) => isBuilt(root, build))) return undefined
  return withSetupLock(root, say, async () => {
    for (const build of builds) {
      // Another process may have built while we waited for the lock.
      if (isBuilt(root, build)) continue
      say(`building the ${build.name}`)
      const failure = await buildOne(root, build)
      if (failure !== undefined) return failure
    }
    return undefined
  })
}

const isBuilt = (root, build) => readStamp(stampFile(root, build)) === contentHash(root, build.inputs)

const stampFile = (root, build) => join(root, build.output, '.stamp')

/**
 * Builds aside and swaps the finished folder in: no stale file survives, and a failed build leaves the last good one.
 * The folder aside has a name of its own, since the compiler of a killed run may still be writing into another.
 */
const buildOne = async (root, build) => {
  removeLeftovers(root, build)
  const fresh = `${build.output}.new-${randomUUID()}`
  const hash = contentHash(root, build.inputs)
  const { exitCode, output } = await runCaptured(...build.commandFor(fresh), { cwd: root })
  if (exitCode !== 0) {
    removeLeftovers(root, build)
    return output
  }
  writeStamp(join(root, fresh, '.stamp'), hash)
  const current = join(root, build.output)
  if (existsSync(current)) renameSync(current, `${current}.old-${randomUUID()}`)
  renameSync(join(root, fresh), current)
  removeLeftovers(root, build)
  return undefined
}

const removeLeftovers = (root, { output }) => {
  const folder = join(root, dirname(output))
  const isLeftover = (name) => ['new', 'old'].some((kind) => name.startsWith(`${basename(output)}.${kind}-`))
  for (const name of readdirSync(folder).filter(isLeftover))
    rmSync(join(folder, name), { recursive: true, force: true })
}
