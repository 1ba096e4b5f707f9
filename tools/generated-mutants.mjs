/**
 * Makes mistakes that StrykerJS generates, a sample of each folder, and runs the fast tests of the folder, which have to
 * notice them.
 */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'

import { FOLDERS, keyOf, keyOfResult, mutantsIn, SAMPLE_FILE_VARIABLE, sampleOf } from './mutant-sample.mjs'

/** The goal for each folder. */
const KILLED_PERCENT_MIN = 90

/** Folder of results that are kept between runs. */
const KEPT = '.stryker'

const KILLED = new Set(['Killed', 'Timeout', 'RuntimeError'])
const SEED_MAX = 1e9
const SAMPLE = 60

/** Without `--planted` and `--generated` both; words name planted ones, and options of a sample generated ones. */
export const parseMutantsArgs = (args) => {
  const { values, positionals: words } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      planted: { type: 'boolean', default: false },
      generated: { type: 'boolean', default: false },
      folder: { type: 'string', multiple: true },
      sample: { type: 'string' },
      seed: { type: 'string' },
      fresh: { type: 'boolean', default: false },
    },
  })
  const { folder: folders = FOLDERS, sample, seed, fresh } = values
  for (const folder of folders) {
    const isKnown = FOLDERS.some((one) => folder === one || folder.startsWith(`${one}/`))
    if (!isKnown)
      throw new Error(`--folder must be one of ${FOLDERS.join(', ')}, or inside of one: ${folder}`)
  }
  const choosesSample = ['folder', 'sample', 'seed'].some((name) => values[name] !== undefined) || fresh
  const isUnsaid = !values.planted && !values.generated
  return {
    planted: values.planted || (isUnsaid && !choosesSample),
    generated: values.generated || (isUnsaid && words.length === 0),
    words,
    folders,
    size: sample === 'all' ? Number.POSITIVE_INFINITY : wholeNumber('sample', sample ?? `${SAMPLE}`),
    seed: seed === undefined ? randomInt(SEED_MAX) : wholeNumber('seed', seed),
    fresh,
  }
}

const wholeNumber = (name, text) => {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new Error(`--${name} must be a whole number, and is ${text}`)
}

/** One folder passes if enough of its sample is noticed. */
export const runGeneratedMutants = async (root, { folders, size, seed, fresh }) => {
  const counts = { passed: 0, failed: 0 }
  for (const folder of folders) {
    const results = await resultsOf(root, folder, { size, seed, fresh })
    counts[report(folder, results, seed) ? 'passed' : 'failed'] += 1
  }
  return counts
}

const resultsOf = async (root, folder, { size, seed, fresh }) => {
  const all = await mutantsIn(root, folder)
  const sample = sampleOf(all, size, seed)
  process.stdout.write(`${folder}: ${sample.length} of ${all.length} mutants, seed ${seed}\n`)
  const keys = new Set(sample.map(keyOf))
  const kept = join(root, KEPT)
  const name = folder.replaceAll('/', '-')
  const incrementalFile = join(kept, `${name}.json`)
  const sampleFile = join(kept, `${name}.sample.json`)
  mkdirSync(kept, { recursive: true })
  if (fresh) rmSync(incrementalFile, { force: true })
  writeFileSync(sampleFile, JSON.stringify([...keys]))
  process.env[SAMPLE_FILE_VARIABLE] = sampleFile
  process.env.SVC_MUTANTS_FOLDER = FOLDERS.find((one) => folder.startsWith(one)) ?? folder
  const { Stryker } = await import('@stryker-mutator/core')
  const results = await new Stryker({
    ...SETTINGS,
    mutate: sample.map(placeOf),
    incremental: true,
    incrementalFile,
    tempDirName: join(KEPT, `sandbox-${name}`),
  }).runMutationTest()
  keepKilled(incrementalFile)
  return results.filter((result) => keys.has(keyOfResult(result, 1)))
}

const placeOf = ({ file, start, end }) =>
  `${file}:${start.line}:${start.column - 1}-${end.line}:${end.column - 1}`

/** One at a time: tests of this project use both cores by themselves. */
const SETTINGS = {
  plugins: ['@stryker-mutator/vitest-runner', new URL('mutant-sample.mjs', import.meta.url).href],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
  checkers: ['sample'],
  ignorers: ['sample'],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  reporters: ['sample'],
  warnings: { slow: false },
  ignorePatterns: ['/bench', '/dashboard/node_modules', '/dist.*', `/${KEPT}`, '*.tgz'],
  // StrykerJS would read it with an interface that this compiler does not have.
  tsconfigFile: 'none',
  disableTypeChecks: false,
  allowConsoleColors: false,
  dryRunTimeoutMinutes: 30,
  // A busy machine is no hanging test.
  timeoutMS: 60_000,
}

/**
 * Keeps killed mutants only. Survivors are tried again, because StrykerJS does not see that a test asserts more than
 * before.
 */
const keepKilled = (incrementalFile) => {
  if (!existsSync(incrementalFile)) return
  const kept = JSON.parse(readFileSync(incrementalFile, 'utf8'))
  for (const file of Object.values(kept.files))
    file.mutants = file.mutants.filter(({ status }) => status === 'Killed')
  writeFileSync(incrementalFile, JSON.stringify(kept))
}

/** Says how many were noticed, and whether these are enough. */
const report = (folder, results, seed) => {
  const killed = results.filter(({ status }) => KILLED.has(status))
  const share = results.length === 0 ? 0 : (killed.length / results.length) * 100
  const isGood = share >= KILLED_PERCENT_MIN
  const times = results.filter(({ status }) => status === 'Timeout').length
  process.stdout.write(
    `${isGood ? '✓' : '✗'} ${folder}: ${killed.length} of ${results.length} killed (${share.toFixed(1)} %), ` +
      `of these by time ${times}; seed ${seed}\n`,
  )
  return isGood
}
