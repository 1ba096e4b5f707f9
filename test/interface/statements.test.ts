import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** How many acceptance statements the interface has: A001 and on. */
const STATEMENTS = 122

/** Not yet fulfilled, or not as a whole. A line goes when the last part has a test. */
const OPEN: Readonly<Record<string, string>> = {}

interface Naming {
  readonly number: string
  readonly file: string
}

/** The numbers at the beginning of a test's name: `A001, A002: health is public`. */
const NUMBERS = /['"`](A\d{3}(?:, A\d{3})*): /g

const namingsIn = (file: string): readonly Naming[] =>
  [...readFileSync(join(import.meta.dirname, file), 'utf8').matchAll(NUMBERS)]
    .flatMap(([, numbers = '']) => numbers.split(', '))
    // The command line is one subject in several files.
    .map((number) => ({ number, file: file.replace(/^command-line.*/, 'command-line') }))

const namings = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.test.ts') && file !== 'statements.test.ts')
  .flatMap(namingsIn)

const all = Array.from({ length: STATEMENTS }, (_, index) => `A${String(index + 1).padStart(3, '0')}`)

const homesOf = (wanted: string): ReadonlySet<string> =>
  new Set(namings.filter(({ number }) => number === wanted).map(({ file }) => file))

describe('the acceptance statements', () => {
  it('have a test each, unless they are open', () => {
    expect(all.filter((number) => !(number in OPEN) && homesOf(number).size === 0)).toEqual([])
  })

  it('are tested in one place each', () => {
    expect(all.filter((number) => homesOf(number).size > 1)).toEqual([])
  })

  it('that are named exist', () => {
    const named = [...Object.keys(OPEN), ...namings.map(({ number }) => number)]
    expect(named.filter((number) => !all.includes(number))).toEqual([])
  })
})
