import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

interface Place {
  readonly line: number
  readonly column: number
}

interface Mutant {
  readonly file: string
  readonly start: Place
  readonly end: Place
  readonly mutatorName: string
  readonly replacement: string
}

interface Checker {
  readonly init: () => Promise<void>
  readonly check: (mutants: readonly object[]) => Promise<Readonly<Record<string, { status: string }>>>
}

const TOOLS = new URL('../../tools/', import.meta.url)
const { keyOf, mutantsIn, sampleOf, strykerPlugins } = (await import(
  new URL('mutant-sample.mjs', TOOLS).href
)) as {
  readonly keyOf: (mutant: Mutant) => string
  readonly mutantsIn: (root: string, folder: string) => Promise<readonly Mutant[]>
  readonly sampleOf: (mutants: readonly Mutant[], size: number, seed: number) => readonly Mutant[]
  readonly strykerPlugins: readonly { readonly kind: string; readonly injectableClass: new () => Checker }[]
}
const { parseMutantsArgs } = (await import(new URL('generated-mutants.mjs', TOOLS).href)) as {
  readonly parseMutantsArgs: (args: readonly string[]) => Readonly<Record<string, unknown>>
}

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mutant-sample-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const write = (file: string, text: string): void => {
  mkdirSync(join(root, file, '..'), { recursive: true })
  writeFileSync(join(root, file), text)
}
const smaller = `export const smaller = (a: number, b: number): number => (a < b ? a : b)\n`
const larger = `export const larger = (a: number, b: number): number => (a > b ? a : b)\n`

describe('the mutants of a folder', () => {
  it('are in its code alone, not in other folders and not in tests', async () => {
    write('src/core/a/smaller.ts', smaller)
    write('src/core/a/smaller.test.ts', smaller)
    write('src/core/a/smaller.fixture.ts', smaller)
    write('src/core/b/larger.ts', larger)
    const mutants = await mutantsIn(root, 'src/core/a')
    expect(mutants.map(({ replacement }) => replacement)).toContain('a <= b')
    expect(new Set(mutants.map(({ file }) => file))).toEqual(new Set(['src/core/a/smaller.ts']))
    expect(new Set((await mutantsIn(root, 'src/core')).map(({ file }) => file)).size).toBe(2)
  })

  it('leave alone what only people read, and nothing else', async () => {
    const code = `export const it = { text: 'a', unit: 'b', why: 'because it is so', sql: 'SELECT all' }`
    write('src/core/text.ts', `throw new Error('a')\n${code}\n`)
    const mutants = await mutantsIn(root, 'src/core')
    const strings = mutants.filter(({ mutatorName }) => mutatorName === 'StringLiteral')
    expect(strings.map(({ start }) => start)).toEqual([
      { line: 2, column: code.indexOf(`'b'`) + 1 },
      { line: 2, column: code.indexOf(`'SELECT`) + 1 },
    ])
  })

  it.each([
    ['prose with numbers and names', `'closes that count; 50 are kept of BTC'`, 0],
    ['prose around a value', '`event ${seq} is not the one that was verified`', 0],
    ['prose in two parts', `'the first two parts ' + 'are one sentence'`, 0],
    ['prose around something computed', '`event ${seq + 1} is not the one that was verified`', 2],
    ['a query', `'SELECT a, b, c FROM events where one of them is'`, 1],
    ['a condition', `'name of it = one of those that are'`, 1],
    ['names', `'text/css; charset'`, 1],
    ['the name of a thread, which the bundler reads', `'./writer-thread.ts'`, 0],
  ])('are made of %s as it deserves', async (_what, code, count) => {
    write('src/core/text.ts', `export const text = ${code}\n`)
    expect(await mutantsIn(root, 'src/core')).toHaveLength(count)
  })
})

describe('a sample', () => {
  const mutants = async (): Promise<readonly Mutant[]> => {
    write('src/core/smaller.ts', smaller)
    write('src/core/larger.ts', larger)
    return mutantsIn(root, 'src/core')
  }

  it('is the same for the same seed, and another one for another', async () => {
    const all = await mutants()
    const seven = sampleOf(all, 6, 7)
    expect(new Set(seven).size).toBe(6)
    expect(all).toEqual(expect.arrayContaining([...seven]))
    expect(sampleOf(all.toReversed(), 6, 7)).toEqual(seven)
    expect(sampleOf(all, 6, 8)).not.toEqual(seven)
  })

  it('changes only by what is new when code is added', async () => {
    const all = await mutants()
    const before = sampleOf(all, all.length, 7)
    write('src/core/more.ts', larger)
    const after = sampleOf(await mutantsIn(root, 'src/core'), 1000, 7)
    expect(after.length).toBeGreaterThan(before.length)
    expect(after.filter(({ file }) => file !== 'src/core/more.ts')).toEqual(before)
  })

  it('is all that StrykerJS may run', async () => {
    const [chosen, other] = (await mutants()) as readonly [Mutant, Mutant]
    const sampleFile = join(root, 'sample.json')
    writeFileSync(sampleFile, JSON.stringify([keyOf(chosen)]))
    const asStryker = ({ file, start, end, ...rest }: Mutant, id: string) => ({
      ...rest,
      id,
      fileName: join('/anywhere', file),
      location: {
        start: { line: start.line - 1, column: start.column - 1 },
        end: { line: end.line - 1, column: end.column - 1 },
      },
    })
    process.env['SVC_MUTANTS_SAMPLE'] = sampleFile
    const SampleChecker = strykerPlugins.find(({ kind }) => kind === 'Checker')?.injectableClass
    const checker = SampleChecker === undefined ? undefined : new SampleChecker()
    await checker?.init()
    delete process.env['SVC_MUTANTS_SAMPLE']
    const checked = await checker?.check([asStryker(chosen, '1'), asStryker(other, '2')])
    expect(checked).toMatchObject({ 1: { status: 'passed' }, 2: { status: 'compileError' } })
  })
})

describe('npm run mutants', () => {
  it.each<[readonly string[], object]>([
    [[], { planted: true, generated: true, size: 60 }],
    [['--planted'], { planted: true, generated: false }],
    [['fill', 'two processes'], { planted: true, generated: false, words: ['fill', 'two processes'] }],
    [['--generated'], { planted: false, generated: true }],
    [['--folder', 'src/core'], { planted: false, generated: true, folders: ['src/core'] }],
    [
      ['--generated', '--folder', 'src/core/log', '--sample', '200', '--seed', '7', '--fresh'],
      { generated: true, folders: ['src/core/log'], size: 200, seed: 7, fresh: true },
    ],
    [['--generated', '--sample', 'all'], { size: Number.POSITIVE_INFINITY }],
  ])('understands %j', (args, meaning) => {
    expect(parseMutantsArgs(args)).toMatchObject(meaning)
  })

  it.each([
    ['--folder', 'src/compose'],
    ['--folder', 'src/core2'],
    ['--sample', '-1'],
    ['--seed', 'x'],
    ['--all'],
  ])('refuses %s %s', (...args) => {
    expect(() => parseMutantsArgs(args)).toThrow(/--/)
  })
})
