import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

import { runCaptured } from './spawn.mjs'

/** Everything that is checked without running the code, in this order. */
export const checksOf = (root) => [
  check(root, 'format', 'oxfmt/bin/oxfmt', ['--check']),
  check(root, 'types', 'typescript/bin/tsc', ['--noEmit', '-p', 'tsconfig.json']),
  check(root, 'page types', 'typescript/bin/tsc', ['--noEmit', '-p', 'dashboard/tsconfig.json']),
  check(root, 'lint', 'oxlint/bin/oxlint', ['--quiet']),
  check(root, 'dead code', 'knip/bin/knip.js', ['--no-progress']),
  { name: 'import rules', run: () => runScript(root, 'tools/import-rules.mjs', []) },
]

const check = (root, name, script, args) => ({
  name,
  run: () => runScript(root, join('node_modules', script), args),
})

/** Undefined when the script ended well, otherwise what it printed. */
const runScript = async (root, script, args) => {
  if (!existsSync(join(root, script))) return `${script} is missing`
  const { exitCode, output } = await runCaptured(process.execPath, [script, ...args], { cwd: root })
  return exitCode === 0 ? undefined : output
}
