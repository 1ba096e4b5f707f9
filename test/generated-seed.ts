import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

declare module 'vitest' {
  export interface ProvidedContext {
    /** First seed of generated tests: see `runSeed`. */
    readonly seed: number
  }
}

const ROOT = new URL('..', import.meta.url)

/** Seed of this run. It changes with each commit, so that further cases are tested over time. SVC_TEST_SEED sets it. */
export const seedOfRun = (): number => {
  const named = process.env['SVC_TEST_SEED'] ?? ''
  if (named === '') return createHash('sha256').update(commit()).digest().readUInt32BE() >>> 1
  const seed = Number(named)
  if (Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31) return seed
  throw new Error(`SVC_TEST_SEED must be a whole number from 0 to ${2 ** 31 - 1}, and is ${named}`)
}

/** The commit, or the version outside of a repository. */
const commit = (): string => {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' })
  } catch {
    const { version } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
      version: string
    }
    return version
  }
}
