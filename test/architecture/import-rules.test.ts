import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { CASES, CLEAN, type Case, type Tree } from './import-rules.cases.ts'

const CONFIG = new URL('../../.dependency-cruiser.mjs', import.meta.url)
const TOOL = fileURLToPath(new URL('../../tools/import-rules.mjs', import.meta.url))

const WITHOUT_ENTRY: Tree = { ...CLEAN, 'src/cli.ts': [], 'src/surfaces/cli/health.ts': [] }

let folder: string
let brokenRulesOf: ReadonlyMap<string, readonly string[]>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-rules-'))
  const trees = new Map([
    ['clean', CLEAN],
    ['without-entry', WITHOUT_ENTRY],
    ...CASES.map((example) => [nameOf(example), treeOf(example)] as const),
  ])
  writePackages()
  for (const [name, tree] of trees) write(name, tree)
  brokenRulesOf = judge([...trees.keys()])
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('the import rules', () => {
  it('are content with a tree in order', () => {
    expect(brokenRulesOf.get('clean')).toEqual([])
  })

  it.each(CASES.map((example) => [nameOf(example), example.rule] as const))('%s', (name, rule) => {
    expect(brokenRulesOf.get(name)).toEqual([rule])
  })

  it('do not trust a tree without a program in it, where nothing could be an orphan', () => {
    expect(brokenRulesOf.get('without-entry')).toContain('entry-imports-nothing')
  })

  it('have a case each', async () => {
    const { default: config } = (await import(CONFIG.href)) as {
      default: { forbidden: readonly { name: string }[] }
    }
    const rules = config.forbidden.map(({ name }) => name)
    expect(rules.toSorted()).toEqual([...new Set(CASES.map(({ rule }) => rule))].toSorted())
  })
})

const nameOf = ({ rule, why }: Case): string => `${rule}, ${why}`

const treeOf = ({ tree, isReached = true }: Case): Tree => {
  const reached = Object.keys(tree).filter(
    (file) => isReached && file.startsWith('src/') && !file.includes('.contract.'),
  )
  return { ...CLEAN, ...tree, 'src/main.ts': [...(CLEAN['src/main.ts'] ?? []), ...reached] }
}

/** One run for all trees, outside of this process: the cruiser's parser does not load under a TypeScript loader. */
const judge = (names: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const roots = names.map((name) => join(folder, name))
  const { stdout, stderr } = spawnSync(process.execPath, [TOOL, ...roots], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const faults = stdout.split('\n').map((line) => line.split(': '))
  const rulesIn = (name: string) =>
    faults.filter(([root]) => root === join(folder, name)).map(([, rule = '']) => rule)
  return new Map(names.map((name) => [name, [...new Set(rulesIn(name))]]))
}

const PACKAGES = {
  dependencies: [
    'zod',
    'immutable',
    'pino',
    'fastify',
    '@fastify/static',
    '@photostructure/sqlite',
    'ccxt',
    'pg',
    'commander',
  ],
  devDependencies: ['fast-check'],
  // Installed because another package needs it.
  undeclared: ['undeclared'],
}

/** Node looks for packages in every folder above, so the trees share them. */
const writePackages = (): void => {
  for (const name of Object.values(PACKAGES).flat()) {
    put('node_modules', `${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
    put('node_modules', `${name}/index.js`, '')
  }
}

const write = (home: string, tree: Tree): void => {
  const dependencies = versionsOf(PACKAGES.dependencies)
  const devDependencies = versionsOf(PACKAGES.devDependencies)
  put(home, 'package.json', JSON.stringify({ type: 'module', dependencies, devDependencies }))
  for (const [file, imports] of Object.entries(tree)) {
    put(home, file, imports.map((target) => `${importOf(file, target)}\n`).join(''))
  }
}

const versionsOf = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, '1.0.0']))

const importOf = (from: string, target: string): string => {
  const [name = '', form] = target.split(' ').toReversed()
  const module = specifier(from, name)
  if (form === 'type') return `import type { T } from '${module}'`
  if (form === 'using') return `export const use = async () => { await using it = await import('${module}') }`
  return `import '${module}'`
}

const specifier = (from: string, target: string): string =>
  target.endsWith('.ts') ? `./${'../'.repeat(from.split('/').length - 1)}${target}` : target

const put = (home: string, file: string, content: string): void => {
  const path = join(folder, home, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
