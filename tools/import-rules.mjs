/**
 * Checks the imports between modules of src against .dependency-cruiser.mjs: `node tools/import-rules.mjs [root ...]`.
 * Other roots are for the test that makes every rule fail.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

import swc from '@swc/core/Visitor.js'
import { cruise } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

// The cruiser walks with this visitor, which is older than `using`.
// oxlint-disable-next-line typescript/no-deprecated
const { prototype: visitor } = swc.Visitor
const { visitStatement } = visitor
visitor.visitStatement = function visitUsingToo(statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement)
  return { ...statement, decls: this.visitVariableDeclarators(statement.decls) }
}

const options = await extractOptions(join(ROOT, '.dependency-cruiser.mjs'))

const violationsOf = ({ summary }) =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from}${to === from ? '' : ` → ${to}`}`)

/**
 * A cruiser that sees nothing is content with everything: without a parser it finds no module, without an entry no
 * orphan.
 */
const blindSpotsOf = (root, { modules }) => {
  const importsOf = new Map(modules.map(({ source, dependencies }) => [source, dependencies.length]))
  const unseen = sourceFilesOf(root).filter((file) => !importsOf.has(file))
  const idle = ['src/main.ts', 'src/cli.ts'].filter((file) => !importsOf.get(file))
  return [
    ...unseen.map((file) => `not-seen: ${file}`),
    ...idle.map((file) => `entry-imports-nothing: ${file}`),
  ]
}

const sourceFilesOf = (root) =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)

const roots = process.argv.slice(2)
for (const root of roots.length > 0 ? roots : [ROOT]) {
  const { output } = await cruise(['src'], { ...options, baseDir: root })
  for (const fault of [...violationsOf(output), ...blindSpotsOf(root, output)]) {
    process.exitCode = 1
    process.stdout.write(`${roots.length > 1 ? `${root}: ` : ''}${fault}\n`)
  }
}
