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
/** By tree: the file and the rule that it breaks. */
let brokenRulesIn: ReadonlyMap<string, readonly BrokenRule[]>

interface BrokenRule {
  readonly file: string
  readonly rule: string
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-rules-'))
  writePackages()
  const trees = { clean: CLEAN, 'without-entry': WITHOUT_ENTRY, cases: treeWithAll(CASES) }
  for (const [name, tree] of Object.entries(trees)) write(name, tree)
  brokenRulesIn = check(Object.keys(trees))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('the import rules', () => {
  it('find nothing in a clean tree', () => {
    expect(brokenRulesIn.get('clean')).toEqual([])
  })

  it.each(CASES.map((example, index) => [example.rule, example.why, example, index] as const))(
    'find %s: %s',
    (rule, _why, example, index) => {
      const files = new Set(Object.keys(ownTree(example, index)))
      const broken = (brokenRulesIn.get('cases') ?? []).filter(({ file }) => files.has(file))
      expect([...new Set(broken.map((one) => one.rule))]).toEqual([rule])
    },
  )

  it('find nothing else in the tree with all cases', () => {
    const files = new Set(CASES.flatMap((example, index) => Object.keys(ownTree(example, index))))
    expect((brokenRulesIn.get('cases') ?? []).filter(({ file }) => !files.has(file))).toEqual([])
  })

  it('fail for a tree without an entry point, where nothing could be an orphan', () => {
    const rules = (brokenRulesIn.get('without-entry') ?? []).map(({ rule }) => rule)
    expect(rules).toContain('entry-imports-nothing')
  })

  it('have at least one case each', async () => {
    const { default: config } = (await import(CONFIG.href)) as {
      default: { forbidden: readonly { name: string }[] }
    }
    const rules = config.forbidden.map(({ name }) => name)
    expect(rules.toSorted()).toEqual([...new Set(CASES.map(({ rule }) => rule))].toSorted())
  })
})

/** The cruiser takes half a second for a tree, so all cases share one. */
const treeWithAll = (cases: readonly Case[]): Tree => {
  const trees = cases.map((example, index) => ownTree(example, index))
  const reached = cases.flatMap(({ isReached = true }, index) =>
    Object.keys(trees[index] ?? {}).filter(
      (file) => isReached && file.startsWith('src/') && !/\.(contract|fixture)\./.test(file),
    ),
  )
  const tree: Tree = Object.assign({}, CLEAN, ...trees)
  return { ...tree, 'src/main.ts': [...(CLEAN['src/main.ts'] ?? []), ...reached] }
}

/** The files of a case under names that no other case uses. */
const ownTree = ({ tree }: Case, index: number): Tree => {
  const ownName = (target: string): string => {
    const [name = '', form] = target.split(' ').toReversed()
    const own = tree[name] === undefined ? name : name.replace(/[^/]+$/, `case-${index}-$&`)
    return form === undefined ? own : `${form} ${own}`
  }
  return Object.fromEntries(
    Object.entries(tree).map(([file, imports]) => [ownName(file), imports.map(ownName)]),
  )
}

/** One run for all trees, outside of this process: the cruiser's parser does not load under a TypeScript loader. */
const check = (names: readonly string[]): ReadonlyMap<string, readonly BrokenRule[]> => {
  const roots = names.map((name) => join(folder, name))
  const { stdout, stderr } = spawnSync(process.execPath, [TOOL, ...roots], { encoding: 'utf8' })
  expect(stderr).toBe('')
  const lines = stdout.split('\n').map((line) => line.split(': '))
  const brokenIn = (name: string): readonly BrokenRule[] =>
    lines
      .filter(([root]) => root === join(folder, name))
      .map(([, rule = '', modules = '']) => ({ file: modules.split(' → ')[0] ?? '', rule }))
  return new Map(names.map((name) => [name, brokenIn(name)]))
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
    'hyparquet',
    'pg',
    'commander',
  ],
  devDependencies: ['fast-check'],
  // Installed because another package needs it.
  undeclared: ['undeclared'],
}

/** Node resolves packages in every parent folder, so the trees share one node_modules. */
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
