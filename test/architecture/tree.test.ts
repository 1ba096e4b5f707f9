import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

const SRC = fileURLToPath(new URL('../../src', import.meta.url))

const PAGES = fileURLToPath(new URL('../../dashboard/src', import.meta.url))

const LINES_MAX = 350

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
const textOf = (name: string): string => readFileSync(join(SRC, name), 'utf8')

describe('the tree', () => {
  it(`has no file longer than ${LINES_MAX} lines, unless a machine wrote it`, () => {
    const written = files.filter((name) => !name.endsWith('.generated.ts'))
    expect(written.length).toBeGreaterThan(0)
    expect(written.filter((name) => textOf(name).split('\n').length - 1 > LINES_MAX)).toEqual([])
  })

  it(`has no page part longer than ${LINES_MAX} lines`, () => {
    const parts = readdirSync(PAGES, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    )
    expect(parts.length).toBeGreaterThan(0)
    const tooLong = parts.filter(
      (name) => readFileSync(join(PAGES, name), 'utf8').split('\n').length - 1 > LINES_MAX,
    )
    expect(tooLong).toEqual([])
  })

  it('lists alphabetically in every all.ts', () => {
    const lists = files.filter((name) => basename(name) === 'all.ts')
    expect(lists.filter((name) => !isAlphabetical(textOf(name)))).toEqual([])
  })

  it('has somebody who begins every thread', () => {
    const code = files.filter((name) => !name.endsWith('.test.ts'))
    const idle = code
      .filter((name) => name.endsWith('-thread.ts'))
      .filter(
        (thread) =>
          !code.some((name) => name !== thread && textOf(name).includes(`./${basename(thread, '.ts')}`)),
      )
    expect(idle).toEqual([])
  })
})

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
