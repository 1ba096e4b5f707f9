import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readLines, WHOLE_FILE, type Line, type LineRange } from './lines.ts'

let folder: string
let path: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lines-'))
  path = join(folder, 'file')
})
afterAll(() => rm(folder, { recursive: true }))

const linesIn = async (range: LineRange = WHOLE_FILE): Promise<readonly Line[]> => {
  const all: Line[] = []
  for await (const lines of readLines(path, range)) all.push(...lines)
  return all
}

it('knows number and place of every line, however the file is cut into pieces', async () => {
  // Longer than several pieces, with characters of many bytes on their edges.
  const texts = Array.from({ length: 5000 }, (_, index) => '€ä'.repeat(index % 97))
  await writeFile(path, texts.map((text) => `${text}\n`).join(''))
  const lines = await linesIn()
  expect(lines.map(({ text }) => text)).toEqual(texts)
  expect(lines.map(({ number }) => number)).toEqual(texts.map((_, index) => index + 1))

  for (const index of [0, 1, 777, 4999]) {
    const { startByte = 0, number = 0 } = lines[index] ?? {}
    const rest = await linesIn({ startByte, endByte: null, firstNumber: number })
    expect(rest).toEqual(lines.slice(index))
  }
  const [from, to] = [lines[10]?.startByte ?? 0, lines[20]?.startByte ?? 0]
  expect(await linesIn({ startByte: from, endByte: to, firstNumber: 11 })).toEqual(lines.slice(10, 20))
  expect(await linesIn({ startByte: from, endByte: from, firstNumber: 11 })).toEqual([])
})

it('drops lines that are too long, and continues after them', async () => {
  await writeFile(path, `a\n${'x'.repeat(1_048_577)}\nb\n${'y'.repeat(2_500_000)}`)
  const lines = await linesIn()
  expect(lines.map(({ text }) => text)).toEqual(['a', null, 'b', null])
  expect(lines[3]?.startByte).toBe(2 + 1_048_578 + 2)
})

it('drops the byte order mark and carriage returns', async () => {
  await writeFile(path, '\uFEFFa\r\n\r\nb\rc\n')
  expect((await linesIn()).map(({ text }) => text)).toEqual(['a', '', 'b\rc'])
})
