import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

import { COUNTS_FILE_VARIABLE } from './closing-line-reporter.mjs'
import { runVisibly } from './spawn.mjs'
import { honest } from './steps.mjs'

/** Runs the tests with their own output and returns how many passed, failed and were skipped. */
export const runTests = async (root, args) => {
  const folder = mkdtempSync(join(tmpdir(), 'signal-engine-counts-'))
  const countsFile = join(folder, 'counts.json')
  try {
    const exitCode = await runVisibly(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
      cwd: root,
      env: { [COUNTS_FILE_VARIABLE]: countsFile },
    })
    return honest(exitCode, readCounts(countsFile))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A runner that fell over before it could count. */
const readCounts = (file) =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 0, skipped: 0 }
