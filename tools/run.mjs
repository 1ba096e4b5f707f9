/**
 * The commands of package.json: `node tools/run.mjs start|test|build|check|bench|fuzz|simulate|mutants [arguments]`.
 * Each one installs and builds first what is missing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { ensureBrowser, ensureBuilt, ensureInstalled, run } from './setup.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const [NODE_MAJOR_MIN, NODE_MINOR_MIN] = [20, 19]
const SHELL_CHECK_MS = 200

const say = (text) => process.stderr.write(`${text}\n`)

const setUp = async () => {
  await ensureInstalled(ROOT, say)
  await ensureBuilt(ROOT, say)
}

/** Becomes the service, without a process in between: signals and exit codes are its own. */
const start = async (args) => {
  await setUp()
  const svc = join(ROOT, 'bin/svc.js')
  process.argv = [process.execPath, svc, 'up', ...args]
  await import(pathToFileURL(svc).href)
}

/**
 * All checks and all tests; with arguments only the tests they name. `--full` runs generated tests at their full volume and
 * every suite on every store; `--record` writes the durations that order the test files.
 */
const test = async (given) => {
  const args = given.filter((word) => word !== '--full' && word !== '--record')
  if (given.includes('--full')) process.env.SVC_TEST_FULL = '1'
  const needsBrowser = args.length === 0 || args.some((arg) => arg.includes('browser'))
  const settingUp = setUp()
  const checking = settingUp.then(() => (args.length === 0 ? runChecks() : NO_CHECKS))
  // The checks need no browser. Later the first tests, which are the longest and mostly wait, run beside them.
  const testing = Promise.all([settingUp, needsBrowser ? ensureBrowser(say) : null]).then(async () => {
    const { runTests } = await import('./tests.mjs')
    say('preparing tests')
    return runTests(args, { records: given.includes('--record') })
  })
  const [checks, tests] = await Promise.all([checking, testing])
  process.stdout.write(checks.failures)
  close({ ...tests, passed: checks.passed + tests.passed, failed: checks.failed + tests.failed })
}

const check = async () => {
  await setUp()
  const { failures, ...counts } = await runChecks()
  process.stdout.write(failures)
  close({ ...counts, skipped: 0 })
}

const bench = async (args) => {
  await setUp()
  await run(process.execPath, ['tools/bundle.mjs', 'bench', 'bench/dist'])
  const child = spawn(process.execPath, ['--enable-source-maps', 'bench/dist/bench-run.js', ...args], {
    stdio: 'inherit',
  })
  process.exitCode = (await once(child, 'close'))[0] ?? 1
}

/** Generated requests to a real service: `npm run fuzz -- --count 100000 --seed 7`. */
const fuzz = async (args) => {
  const { values } = parseArgs({
    args,
    options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
  })
  await setUp()
  process.env.SVC_FUZZ_COUNT = values.count
  process.env.SVC_FUZZ_SEED = values.seed
  const { runTests } = await import('./tests.mjs')
  close(await runTests(['test/fuzz']))
}

/** The whole engine on simulated time: `npm run simulate -- --minutes 60`, `--seed 7` for one with a trace. */
const simulate = async (args) => {
  await ensureInstalled(ROOT, say)
  await run(process.execPath, ['tools/bundle.mjs', 'simulation', 'test/dist'])
  const program = 'test/dist/test-simulation-whole-engine-simulate-process.js'
  const child = spawn(process.execPath, ['--enable-source-maps', program, ...args], { stdio: 'inherit' })
  process.exitCode = (await once(child, 'close'))[0] ?? 1
}

/**
 * Mistakes made on purpose: those of the list, and a sample of those that StrykerJS generates. `--planted` makes the first
 * alone (words choose some of them), `--generated` the second, `--folder src/core --sample 200 --seed 7` says which.
 */
const mutants = async (args) => {
  const { parseMutantsArgs, runGeneratedMutants } = await import('./generated-mutants.mjs')
  const wanted = parseMutantsArgs(args)
  await setUp()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const add = ({ passed, failed }) => {
    counts.passed += passed
    counts.failed += failed
  }
  if (wanted.planted) {
    const { runMutants } = await import('./mutants.mjs')
    add(await runMutants(ROOT, wanted.words))
  }
  if (wanted.generated) add(await runGeneratedMutants(ROOT, wanted))
  close(counts)
}

/** Everything that is checked without running the code. */
const CHECKS = {
  format: ['node_modules/oxfmt/bin/oxfmt', '--check'],
  // The checks run side by side, and each checker of the compiler would work out the same schemas again.
  types: ['node_modules/typescript/bin/tsc', '--noEmit', '--checkers', '1', '-p', 'tsconfig.json'],
  'dashboard types': ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'dashboard/tsconfig.json'],
  lint: ['node_modules/oxlint/bin/oxlint', '--quiet'],
  'dead code': ['node_modules/knip/bin/knip.js', '--no-progress'],
  'import rules': ['tools/import-rules.mjs'],
}

const NO_CHECKS = { passed: 0, failed: 0, failures: '' }

/** Runs the checks side by side. `failures` is their output, for the caller to print last. */
const runChecks = async () => {
  // The dashboard compiles against the API that the service really has.
  await run(process.execPath, ['dashboard/generate-api-types.mjs'])
  const result = { ...NO_CHECKS }
  const runCheck = async ([name, args]) => {
    const startedMs = performance.now()
    let mark = '✓'
    try {
      await run(process.execPath, args)
      result.passed += 1
    } catch (error) {
      mark = '✗'
      result.failed += 1
      result.failures += `\n✗ ${name}\n${error.message}\n`
    }
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    process.stdout.write(`${mark} ${name.padEnd(16)} ${seconds.padStart(5)} s\n`)
  }
  await Promise.all(Object.entries(CHECKS).map(runCheck))
  return result
}

/** The last line of all, for people and for machines. */
const close = ({ passed, failed, skipped }) => {
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  process.exit(failed > 0 ? 1 : 0)
}

/** The shell that npm starts us with ends on a signal and does not pass it on: its end is our signal. */
const endWithShell = () => {
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, SHELL_CHECK_MS)
  watch.unref()
}

const COMMANDS = { bench, build: setUp, check, fuzz, mutants, simulate, start, test }

const [name, ...args] = process.argv.slice(2)
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < NODE_MAJOR_MIN || (major === NODE_MAJOR_MIN && minor < NODE_MINOR_MIN)) {
  say(
    `Signal Engine needs Node ${NODE_MAJOR_MIN}.${NODE_MINOR_MIN} or newer, this is ${process.versions.node}`,
  )
  process.exitCode = 2
} else if (!Object.hasOwn(COMMANDS, name)) {
  say(`usage: node tools/run.mjs ${Object.keys(COMMANDS).join('|')} [arguments]`)
  process.exitCode = 2
} else {
  process.chdir(ROOT)
  if (process.env.npm_lifecycle_event !== undefined) endWithShell()
  try {
    await COMMANDS[name](args)
  } catch (error) {
    say(error.message)
    if (name === 'test' || name === 'check') close({ passed: 0, failed: 1, skipped: 0 })
    process.exitCode = 1
  }
}
