import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

import { runCaptured } from './spawn.mjs'

/** Everything that is checked without running the code, in this order. */
export const checksOf = (root) => [
  check(root, 'format', 'oxfmt/bin/oxfmt', ['--check']),
  check(root, 'types', 'typescript/bin/tsc', ['--noEmit', '-p', 'tsconfig.json']),
  { name: 'page types', run: () => checkPageTypes(root) },
  check(root, 'lint', 'oxlint/bin/oxlint', ['--quiet']),
  check(root, 'dead code', 'knip/bin/knip.js', ['--no-progress']),
  { name: 'import rules', run: () => runScript(root, 'tools/import-rules.mjs', []) },
]

/** The types of the API come from its OpenAPI document, so that a page that asks for anything else does not compile. */
const checkPageTypes = async (root) =>
  (await runScript(root, 'dashboard/generate-api-types.mjs', [])) ??
  runScript(root, 'node_modules/typescript/bin/tsc', ['--noEmit', '-p', 'dashboard/tsconfig.json'])

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
