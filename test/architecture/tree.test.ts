import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A longer file usually has more than one subject. Related code stays together below the limit. */
const LINES_MAX = 500

/** Every code file by its path from the root, with its text. */
const textOf: ReadonlyMap<string, string> = new Map(
  ['src', 'test', 'bench', 'dashboard/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const),
  ),
)

const filesOf = (pattern: RegExp): readonly string[] =>
  [...textOf.keys()].filter((file) => pattern.test(file))

/** Files that import a file of this name. */
const importersOf = (file: string): readonly string[] => {
  const specifier = `/${basename(file)}'`
  return [...textOf].filter(([name, text]) => name !== file && text.includes(specifier)).map(([name]) => name)
}

describe('the tree', () => {
  it(`has no file longer than ${LINES_MAX} lines, unless a program wrote it`, () => {
    const written = filesOf(/^(src|dashboard\/src)\//).filter((file) => !/\.generated\./.test(file))
    expect(written.length).toBeGreaterThan(100)
    expect(written.filter((file) => (textOf.get(file) ?? '').split('\n').length - 1 > LINES_MAX)).toEqual([])
  })

  it('lists alphabetically in every all.ts', () => {
    const lists = filesOf(/^src\/.*\/all\.ts$/)
    expect(lists.length).toBeGreaterThan(0)
    expect(lists.filter((file) => !isAlphabetical(textOf.get(file) ?? ''))).toEqual([])
  })

  it('starts every worker thread from somewhere', () => {
    const code = filesOf(/^src\//).filter((file) => !file.endsWith('.test.ts'))
    const unused = code
      .filter((file) => file.endsWith('-thread.ts'))
      .filter(
        (thread) =>
          !code.some((file) => file !== thread && textOf.get(file)?.includes(`./${basename(thread, '.ts')}`)),
      )
    expect(unused).toEqual([])
  })

  it('uses every fixture, and only in tests and measurements', () => {
    const fixtures = filesOf(/\.fixture\.tsx?$/)
    expect(fixtures.length).toBeGreaterThan(0)
    expect(fixtures.filter((file) => importersOf(file).length === 0)).toEqual([])
    const wrong = fixtures.flatMap((file) =>
      importersOf(file).filter((importer) => !mayUseFixtures(importer)),
    )
    expect(wrong).toEqual([])
  })

  it('has tests in contract suites and none in fixtures', () => {
    const hasTests = (file: string): boolean => /^\s*(it|describe)(\.\w+)*\(/m.test(textOf.get(file) ?? '')
    const suites = filesOf(/\.contract\.ts$/)
    expect(suites.length).toBeGreaterThan(0)
    const combines = (file: string): boolean => /\.contract\.ts'/.test(textOf.get(file) ?? '')
    expect(suites.filter((file) => !hasTests(file) && !combines(file))).toEqual([])
    expect(filesOf(/\.fixture\.tsx?$/).filter(hasTests)).toEqual([])
  })

  it('runs every contract suite from a test', () => {
    const reached = new Set(filesOf(/\.test\.ts$/))
    for (const file of reached) {
      for (const [, suite] of (textOf.get(file) ?? '').matchAll(/\/([\w.-]+\.contract\.ts)'/g)) {
        for (const found of filesOf(/\.contract\.ts$/)) if (basename(found) === suite) reached.add(found)
      }
    }
    expect(filesOf(/\.contract\.ts$/).filter((file) => !reached.has(file))).toEqual([])
  })
})

describe('who may use fixtures', () => {
  it.each(['src/a.test.ts', 'src/a.contract.ts', 'src/a.fixture.ts', 'test/venue/venue.ts', 'bench/run.ts'])(
    '%s may',
    (file) => {
      expect(mayUseFixtures(file)).toBe(true)
    },
  )

  it.each(['src/engine/engine.ts', 'dashboard/src/app.tsx'])('%s may not', (file) => {
    expect(mayUseFixtures(file)).toBe(false)
  })
})

const mayUseFixtures = (file: string): boolean =>
  /\.(test|contract|fixture)\.tsx?$|^(test|bench)\//.test(file)

describe('an alphabetical list', () => {
  const imports = `import { alpha } from './alpha/alpha.ts'\nimport { beta } from './beta/beta.ts'\n`

  it('imports and lists in the order of the names', () => {
    expect(isAlphabetical(`${imports}\nexport const ALL = [alpha, beta]\n`)).toBe(true)
  })

  it('may name a type first', () => {
    expect(
      isAlphabetical(
        `import type { Kind } from '../kind.ts'\n${imports}\nexport const ALL: readonly Kind[] = [alpha, beta]`,
      ),
    ).toBe(true)
  })

  it('does not import in another order', () => {
    expect(
      isAlphabetical(
        `import { beta } from './beta.ts'\nimport { alpha } from './alpha.ts'\nexport const ALL = [alpha, beta]`,
      ),
    ).toBe(false)
  })

  it('does not list in another order', () => {
    expect(isAlphabetical(`${imports}\nexport const ALL = [beta, alpha]\n`)).toBe(false)
  })

  it('does not import what it does not list', () => {
    expect(isAlphabetical(`${imports}\nexport const ALL = [alpha]\n`)).toBe(false)
  })
})

const IMPORT = /^import (?!type)\{?([^}'"]+?)\}? from '(\.\/[^']+)'$/gm

/** True if what is imported from below is imported, and then named, in the order of the module names. */
const isAlphabetical = (text: string): boolean => {
  const imports = [...text.matchAll(IMPORT)].map(([, names = '', module = '']) => ({ names, module }))
  const list = text.replaceAll(/^import [^'"]+ from '[^']+'$/gm, '')
  const places = imports.map(({ names }) => list.search(new RegExp(`\\b${localName(names)}\\b`)))
  return isAscending(imports.map(({ module }) => module)) && !places.includes(-1) && isAscending(places)
}

/** The last word of `a`, `{ a }`, `{ b as a }` and `* as a`. */
const localName = (names: string): string =>
  names
    .trim()
    .split(/[\s,]+/)
    .at(-1) ?? ''

const isAscending = (values: readonly (string | number)[]): boolean =>
  values.every((value, index) => index === 0 || (values[index - 1] ?? value) < value)
