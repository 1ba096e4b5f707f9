import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectNamedTests, rowsOf } from './named-tests.fixture.ts'

interface Mutant {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly test: readonly [string, string]
}

const ROOT = join(import.meta.dirname, '../..')
const { MUTANTS } = (await import(new URL('../mutants/mutants.mjs', import.meta.url).href)) as {
  readonly MUTANTS: readonly Mutant[]
}

const { FOLDERS } = (await import(new URL('../../tools/mutant-sample.mjs', import.meta.url).href)) as {
  readonly FOLDERS: readonly string[]
}

const all = rowsOf('docs/guarantees.md', ['Promise', 'Mistake', 'Folder'])
/** Promises have a number to link to; mistakes have none. */
const promises = all
  .filter(([first = '']) => first.startsWith('<a id='))
  .map(([promise = '', , tests = '', count = '']) => ({ promise, tests, count }))
/** Folders of generated mistakes are named as code. */
const generated = all.filter(([first = '']) => first.startsWith('`src/'))
const mistakes = all
  .map(([mistake = '']) => mistake)
  .filter((first) => !first.startsWith('<a id=') && !first.startsWith('`src/'))

describe('docs/guarantees.md', () => {
  it('has promises', () => {
    expect(promises.length).toBeGreaterThan(15)
  })

  it.each(promises)('names the test of: $promise', ({ tests, count }) => {
    expectNamedTests(tests)
    expect(count).not.toBe('')
  })

  it('lists the mistakes that npm run mutants makes, at least twenty', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(20)
    expect(mistakes).toEqual(MUTANTS.map(({ name }) => name))
  })

  it('has figures of the generated mistakes of each folder', () => {
    expect(new Set(generated.map(([folder = '']) => folder.slice(1, -1)))).toEqual(new Set(FOLDERS))
  })

  it('is where the promises of the README lead', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const section = readme.slice(readme.indexOf('## What it guarantees'), readme.indexOf('## Documentation'))
    const items = section.split('\n- ').slice(1)
    expect(items.length).toBeGreaterThan(5)
    for (const item of items) expect(item).toMatch(/docs\/guarantees\.md#[a-z-]+\)/)
    for (const [, anchor = ''] of section.matchAll(/guarantees\.md#([a-z-]+)/g))
      expect(
        promises.some(({ promise }) => promise.includes(`<a id="${anchor}">`)),
        anchor,
      ).toBe(true)
  })
})

describe('test/mutants/mutants.mjs', () => {
  it.each(MUTANTS)('can still be made: $name', ({ file, from }) => {
    const places = readFileSync(join(ROOT, file), 'utf8').split(from).length - 1
    expect(places).toBe(1)
  })
})
