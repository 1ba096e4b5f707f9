/** Prerequisites of commands. Plain Node, because a fresh clone has no packages yet. */
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'

/** Runs a command without output. If it fails, its output becomes the message of the error. */
export const run = (command, args, options = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text))
    child.on('error', reject)
    child.on('close', (exitCode) => {
      if (exitCode === 0) resolve()
      else reject(new Error(`${[command, ...args].join(' ')} failed\n${output}`.trimEnd()))
    })
  })

const PROGRESS_EVERY_MS = 10_000

/** Announces a step, reports the elapsed seconds while it runs, and its duration at the end. */
export const withProgress = async (what, say, work) => {
  const startedMs = performance.now()
  const seconds = () => Math.round((performance.now() - startedMs) / 1000)
  say(what)
  const timer = setInterval(() => say(`${what}: ${seconds()} s`), PROGRESS_EVERY_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  say(`${what}: done in ${seconds()} s`)
}

/** Installs exactly the packages of the lock file, unless they are installed. */
export const ensureInstalled = async (root, say) => {
  if (isInstalled(root)) return
  // Building needs the development packages, whatever NODE_ENV or the user's npm settings are.
  await withProgress('installing packages (npm ci)', say, () =>
    run('npm ci --include=dev --include=optional', [], { cwd: root, shell: true }),
  )
}

/** npm's own record of node_modules. Packages for other platforms may be missing. */
const isInstalled = (root) => {
  const record = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(record)) return false
  const { packages: installed } = readJson(record)
  const { '': _root, ...wanted } = readJson(join(root, 'package-lock.json')).packages
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      optional === true || (installed[path]?.version === version && existsSync(join(root, path))),
  )
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** Builds. `output` is rebuilt when a name or byte under `inputs` changes. `argsFor` takes the folder to write to. */
const BUILDS = [
  {
    output: 'dist',
    inputs: [
      'src',
      'clients/typescript',
      'tools/bundle.mjs',
      'tsconfig.client.json',
      'tsconfig.types.json',
      'package.json',
      'package-lock.json',
    ],
    argsFor: (folder) => ['tools/bundle.mjs', 'service', folder],
  },
  {
    output: 'dashboard/dist',
    inputs: ['index.html', 'sign-in.html', 'vite.config.mjs', 'public', 'src']
      .map((name) => `dashboard/${name}`)
      .concat('package-lock.json'),
    argsFor: (folder) => [
      'node_modules/vite/bin/vite.js',
      'build',
      'dashboard',
      '--config=dashboard/vite.config.mjs',
      '--logLevel=warn',
      `--outDir=${folder}`,
    ],
  },
]

/** Builds into another folder and swaps it in when finished: a failed build leaves the last good one. */
export const ensureBuilt = async (root, say, builds = BUILDS) => {
  for (const { output, inputs, argsFor } of builds) {
    const stamp = contentHash(root, inputs)
    const current = join(root, output)
    if (existsSync(`${current}/.stamp`) && readFileSync(`${current}/.stamp`, 'utf8') === stamp) continue
    // Source maps are relative, so the new folder is beside the old one. Its name is unique, so that two builds can run
    // at once.
    const fresh = `${current}.${randomUUID()}`
    const old = `${fresh}.old`
    try {
      await withProgress(`building ${output}`, say, () =>
        run(process.execPath, argsFor(fresh), { cwd: root }),
      )
      writeFileSync(`${fresh}/.stamp`, stamp)
      if (existsSync(current)) renameSync(current, old)
      renameSync(fresh, current)
    } finally {
      for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** A single hash over names and contents. */
const contentHash = (root, inputs) => {
  const hash = createHash('sha256')
  for (const name of inputs.flatMap((input) => filesOf(root, input)).toSorted()) {
    hash.update(`${name}\0`).update(readFileSync(join(root, name)))
  }
  return hash.digest('hex')
}

const filesOf = (root, input) => {
  const found = statSync(join(root, input), { throwIfNoEntry: false })
  if (found?.isDirectory() !== true)
    return found === undefined || input.includes('.generated.') ? [] : [input]
  return readdirSync(join(root, input)).flatMap((name) => filesOf(root, `${input}/${name}`))
}

/** Best first: the shell without a window takes less than half of the processor time of a browser. */
const BROWSERS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

/**
 * The Chromium that the browser tests drive: the one that SVC_TEST_BROWSER names, or that of the machine. Undefined
 * without one.
 */
export const findBrowser = ({ SVC_TEST_BROWSER: named = '', PATH = '' } = process.env) =>
  [named, ...BROWSERS.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))].find(
    (file) => file !== '' && existsSync(file),
  )

/** Installs Chromium on Debian, as root. On other systems without a browser, the browser tests are skipped. */
export const ensureBrowser = async (say) => {
  if (findBrowser() !== undefined) return
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return say('no Chromium found: browser tests are skipped. Install one, or name one in SVC_TEST_BROWSER.')
  }
  await withProgress('installing Chromium for the browser tests', say, () =>
    run(INSTALL_BROWSER, [], { shell: true }),
  )
}

/** Older releases of Debian have no package of the shell. */
const INSTALL_BROWSER =
  'apt-get update && export DEBIAN_FRONTEND=noninteractive && ' +
  '(apt-get install -y chromium-headless-shell || apt-get install -y chromium)'
