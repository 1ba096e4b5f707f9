import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeWholeFile } from './file-output.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-file-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const path = () => join(folder, 'out')

it('writes piece by piece and returns what the writer returns', async () => {
  const result = await writeWholeFile(path(), { force: false }, async (output) => {
    await output.write('one ')
    await output.write('two')
    expect(await readdir(folder)).not.toContain('out')
    return 2
  })
  expect(result).toBe(2)
  expect(await readFile(path(), 'utf8')).toBe('one two')
})

it('leaves nothing behind when writing fails', async () => {
  const failing = writeWholeFile(path(), { force: true }, async (output) => {
    await output.write('half')
    throw new Error('the log broke')
  })
  await expect(failing).rejects.toThrow('the log broke')
  expect(await readdir(folder)).toEqual([])
})

it('does not replace a file that somebody made meanwhile', async () => {
  const late = writeWholeFile(path(), { force: false }, async (output) => {
    await output.write('ours')
    await writeFile(path(), 'theirs')
  })
  await expect(late).rejects.toMatchObject({ code: 'file.exists' })
  expect(await readFile(path(), 'utf8')).toBe('theirs')
  expect(await readdir(folder)).toEqual(['out'])
})
