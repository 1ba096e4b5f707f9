import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { linesOf } from './commands/integrity.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-lines-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const read = async (text: string) => {
  const path = join(folder, 'lines')
  await writeFile(path, text)
  const steps: (readonly [number, number])[] = []
  const lines: string[] = []
  for await (const line of linesOf(path, (...step) => steps.push(step))) lines.push(line)
  return { lines, steps }
}

it('splits at line feeds only', async () => {
  expect((await read('a\u2028b\nc\r\n\nd')).lines).toEqual(['a\u2028b', 'c\r', '', 'd'])
  expect((await read('')).lines).toEqual([])
})

it('puts lines together that are larger than one reading', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 200_000 }), { maxLength: 5 }), async (lengths) => {
      const lines = lengths.map((length) => 'é'.repeat(length))
      const { lines: found, steps } = await read(lines.map((line) => `${line}\n`).join(''))
      expect(found).toEqual(lines)
      const [bytesRead, bytesTotal] = steps.at(-1) ?? [0, 0]
      expect(bytesRead).toBe(bytesTotal)
    }),
    { numRuns: 20 },
  )
})
