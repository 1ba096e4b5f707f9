import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

import { ensureBrowser } from './browser.mjs'
import { ensureBuilt } from './build.mjs'
import { checksOf } from './checks.mjs'
import { ROOT } from './paths.mjs'
import { ensureInstalled } from './setup.mjs'
import { hideRepeatedSignals } from './signals.mjs'
import { runVisibly } from './spawn.mjs'
import { closingLine, runSteps, sumOf } from './steps.mjs'
import { runTests } from './tests.mjs'

/** Sets everything up and becomes the service: no process in between, so signals and exit codes are its own. */
export const start = async (args) => {
  if (!(await isReady())) return
  const door = join(ROOT, 'bin', 'svc.js')
  process.argv = [process.execPath, door, 'up', ...args]
  hideRepeatedSignals()
  await import(pathToFileURL(door).href)
}

/** Sets everything up, checks everything and runs all tests; with arguments only the tests they name. */
export const test = async (args) => {
  const packages = await runSteps([PACKAGES])
  // Without packages there is nothing to check with.
  if (packages.failed > 0) return close(onlyFailed(packages))
  const needsBrowser = args.length === 0 || args.some((arg) => arg.includes('test/browser'))
  const build = await runSteps(needsBrowser ? [BUILD, BROWSER] : [BUILD])
  const checks = args.length > 0 ? [] : [await runSteps(checksOf(ROOT))]
  const tests = await runTests(ROOT, args)
  return close(sumOf(onlyFailed(build), ...checks, tests))
}

/** The checks without the tests. */
export const check = async () => {
  const packages = await runSteps([PACKAGES])
  if (packages.failed > 0) return close(onlyFailed(packages))
  return close(await runSteps(checksOf(ROOT)))
}

export const build = async () => {
  await isReady()
}

/** Sets everything up and measures. */
export const bench = async (args) => {
  if (!(await isReady())) return
  process.exitCode = await runVisibly(
    process.execPath,
    ['--import', './tools/typescript-loader.mjs', 'bench/run.ts', ...args],
    {
      cwd: ROOT,
    },
  )
}

const say = (text) => process.stderr.write(`${text}\n`)

const PACKAGES = { name: 'packages', run: () => ensureInstalled(ROOT, say) }

const BUILD = { name: 'build', run: () => ensureBuilt(ROOT, say) }

const BROWSER = { name: 'browser', run: () => ensureBrowser(ROOT, say) }

/** Silent when there is nothing to do: what the user asked for is the service, not its setup. */
const isReady = async () => {
  const failure = (await PACKAGES.run()) ?? (await BUILD.run())
  if (failure === undefined) return true
  say(failure)
  process.exitCode = 1
  return false
}

/** Setting up is no test, unless it fails. */
const onlyFailed = (counts) => ({ ...counts, passed: 0 })

const close = (counts) => {
  process.exitCode = counts.failed > 0 ? 1 : 0
  process.stdout.write(closingLine(counts))
}
