/** Makes each mistake of test/mutants/mutants.mjs in a copy of the project and runs the test that must notice it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { MUTANTS } from '../test/mutants/mutants.mjs'

/** Folders and files that tests need. The rest of the project is not copied. */
const COPIED = [
  'src',
  'test',
  'tools',
  'config',
  'bin',
  'docs',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
]
const SECONDS_MAX = 900

/**
 * `npm run mutants -- fee "two processes"` makes the mistakes with `fee` in their name, then those with the other text.
 */
export const runMutants = async (root, wanted) => {
  const mutants = select(wanted)
  const copy = await mkdtemp(join(tmpdir(), 'signal-engine-mutants-'))
  const counts = { passed: 0, failed: 0 }
  const report = (isGood, line) => {
    counts[isGood ? 'passed' : 'failed'] += 1
    process.stdout.write(`${isGood ? '✓' : '✗'} ${line}\n`)
  }
  try {
    for (const name of COPIED)
      await cp(join(root, name), join(copy, name), { recursive: true, filter: isSource })
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction')
    // A test that fails anyway, or that does not exist, would notice nothing.
    const sound = await runTests(copy, mutants)
    for (const [file, title] of testsOf(mutants)) {
      const results = sound.filter((result) => result.file.endsWith(file) && result.name.includes(title))
      const isSound = results.length > 0 && results.every(({ status }) => status === 'passed')
      if (!isSound) report(false, `without a mutation: ${file} · ${title}`)
    }
    for (const mutant of mutants) {
      const restore = await mutate(copy, mutant)
      const [file, title] = mutant.test
      const isCaught = (await runTests(copy, [mutant], ['--bail=1'])).some(
        ({ status }) => status === 'failed',
      )
      await restore()
      report(isCaught, `${mutant.name}: ${isCaught ? 'caught' : 'SURVIVED'} (${file} · ${title})`)
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
  return counts
}

const select = (wanted) => {
  if (wanted.length === 0) return MUTANTS
  const found = wanted.flatMap((words) => {
    const named = MUTANTS.filter(({ name }) => name.includes(words))
    if (named.length === 0) throw new Error(`No mutant has this in its name: ${words}`)
    return named
  })
  return [...new Set(found)]
}

const isSource = (path) => !/[/\\](dist|screenshots)$/.test(path)

const testsOf = (mutants) => [
  ...new Map(mutants.map(({ test: [file, title] }) => [`${file}|${title}`, [file, title]])).values(),
]

/** Throws unless the text to change occurs exactly once. */
const mutate = async (copy, { name, file, from, to }) => {
  const path = join(copy, file)
  const source = await readFile(path, 'utf8')
  const places = source.split(from).length - 1
  if (places !== 1) throw new Error(`${name}: ${file} has ${places} places with: ${from}`)
  await writeFile(
    path,
    source.replace(from, () => to),
  )
  return () => writeFile(path, source)
}

/** The results of the named tests. A file that fails to load has no results and has noticed nothing. */
const runTests = async (copy, mutants, options = []) => {
  const files = [...new Set(mutants.map(({ test: [file] }) => file))]
  const titles = [...new Set(mutants.map(({ test: [, title] }) => title))]
  const pattern = titles.map((title) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  const resultsFile = join(copy, 'results.json')
  await rm(resultsFile, { force: true })
  const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
  const report = ['--reporter=json', `--outputFile=${resultsFile}`]
  const args = [vitest, 'run', ...files, '-t', pattern, ...report, ...options]
  const child = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: SECONDS_MAX * 1000 })
  await once(child, 'close')
  const { testResults } = JSON.parse(await readFile(resultsFile, 'utf8'))
  return testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName: name, status }) => ({ file: file.replaceAll('\\', '/'), name, status })),
  )
}
