import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

import { withLock } from './lock.mjs'
import { runCaptured } from './spawn.mjs'
import { contentHash, readStamp, writeStamp } from './stamp.mjs'

const NODE_VERSION_MIN = [20, 19]

/** Why this Node cannot run the service, or undefined. */
export const nodeFaultOf = (version) => {
  const [major, minor] = version.split('.').map(Number)
  const [majorMin, minorMin] = NODE_VERSION_MIN
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `Signal Engine needs Node ${NODE_VERSION_MIN.join('.')} or newer, this is Node ${version}: see https://nodejs.org`
}

/**
 * Installs exactly what the lock file names, unless that is what is already there.
 * Returns what npm said when it failed, or undefined when all is well.
 */
export const ensureInstalled = async (root, say) => {
  if (isInstalled(root)) return undefined
  return withSetupLock(root, say, async () => {
    // Another process may have installed while we waited for the lock.
    if (isInstalled(root)) return undefined
    const hash = packagesHash(root)
    if (!agreesWithLockFile(root)) {
      say('installing packages (npm ci)')
      const { exitCode, output } = await npmCi(root)
      if (exitCode !== 0) return `npm ci failed with exit code ${exitCode}\n${output}`
    }
    mkdirSync(join(root, 'node_modules'), { recursive: true })
    writeStamp(stampFile(root), hash)
    return undefined
  })
}

/** One lock for everything that writes node_modules or build output. */
export const withSetupLock = (root, say, work) =>
  withLock(join(root, '.setup', 'lock'), work, {
    onWait: (holder) => say(`waiting for another setup to finish (process ${holder?.pid ?? 'unknown'})`),
  })

const stampFile = (root) => join(root, 'node_modules', '.signal-engine-stamp')

const packagesHash = (root) => contentHash(root, ['package.json', 'package-lock.json'])

const isInstalled = (root) => readStamp(stampFile(root)) === packagesHash(root)

/**
 * True after an `npm ci` or `npm install` by hand: npm's own record of node_modules names the same versions as the
 * lock file, and the folders are there. Only packages for other platforms may be missing.
 */
const agreesWithLockFile = (root) => {
  const recordFile = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(recordFile)) return false
  const { packages: wanted } = readJson(join(root, 'package-lock.json'))
  const { packages: installed } = readJson(recordFile)
  return (
    declaredEqually(readJson(join(root, 'package.json')), wanted['']) &&
    Object.keys(installed).every((path) => wanted[path]?.version === installed[path].version) &&
    Object.keys(wanted).every(
      (path) => path === '' || wanted[path].optional === true || installed[path] !== undefined,
    ) &&
    Object.keys(installed).every((path) => existsSync(join(root, path, 'package.json')))
  )
}

const declaredEqually = (manifest, locked) =>
  ['dependencies', 'devDependencies', 'optionalDependencies'].every(
    (kind) => sortedJson(manifest[kind]) === sortedJson(locked[kind]),
  )

const sortedJson = (object = {}) =>
  JSON.stringify(
    Object.keys(object)
      .sort()
      .map((name) => [name, object[name]]),
  )

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** Building needs the development packages, whatever NODE_ENV or the user's npm settings say. */
const npmCi = (root) =>
  runCaptured(...npmCommand(['ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional']), {
    cwd: root,
  })

/** Under `npm start` npm tells where it lives; that also works where `npm` is a script that cannot be spawned. */
const npmCommand = (args) => {
  const script = process.env['npm_execpath']
  return script !== undefined && /npm-cli\.c?js$/.test(script)
    ? [process.execPath, [script, ...args]]
    : ['npm', args]
}
