import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readTextFile } from '../../files.ts'
import {
  createPrivateFile,
  FileOpenToOthersError,
  readPrivateFile,
  replacePrivateFile,
} from './private-file.ts'

let home: string
let path: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'private-file-'))
  path = join(home, 'identity', 'thing.json')
})
afterEach(() => rm(home, { recursive: true }))

const modeOf = async (name: string): Promise<number> => (await stat(name)).mode & 0o777

it('creates folder and file for their owner alone', async () => {
  expect(await createPrivateFile(path, 'a')).toBe(true)
  expect(await readTextFile(path)).toBe('a')
  expect(await modeOf(path)).toBe(0o600)
  expect(await modeOf(join(home, 'identity'))).toBe(0o700)
})

it('closes a folder that was open', async () => {
  await mkdir(join(home, 'identity'), { mode: 0o755 })
  await createPrivateFile(path, 'a')
  expect(await modeOf(join(home, 'identity'))).toBe(0o700)
})

it('never overwrites when creating, and lets one of many win', async () => {
  const results = await Promise.all(['a', 'b', 'c', 'd'].map((text) => createPrivateFile(path, text)))
  expect(results.filter(Boolean)).toHaveLength(1)
  expect(await readTextFile(path)).toBe(['a', 'b', 'c', 'd'][results.indexOf(true)])
  expect(await readdir(join(home, 'identity'))).toEqual(['thing.json'])
})

it('replaces whole files and leaves no draft', async () => {
  await replacePrivateFile(path, 'a')
  await replacePrivateFile(path, 'b')
  expect(await readFile(path, 'utf8')).toBe('b')
  expect(await modeOf(path)).toBe(0o600)
  expect(await readdir(join(home, 'identity'))).toEqual(['thing.json'])
})

it('tells a missing file from one that cannot be read', async () => {
  expect(await readTextFile(path)).toBeNull()
  await writeFile(join(home, 'file'), '')
  await expect(readTextFile(join(home, 'file', 'below'))).rejects.toThrow('ENOTDIR')
})

it('leaves no draft when the place is taken by a folder', async () => {
  await mkdir(path, { recursive: true })
  await expect(replacePrivateFile(path, 'a')).rejects.toThrow('EISDIR')
  expect(await readdir(join(home, 'identity'))).toEqual(['thing.json'])
})

it.skipIf(process.platform === 'win32').each([0o644, 0o640, 0o602, 0o660, 0o777])(
  'does not read a file that others may read or write (%o), and says what to do',
  async (mode) => {
    await createPrivateFile(path, 'secret')
    await chmod(path, mode)
    const read = readPrivateFile(path)
    await expect(read).rejects.toThrow(FileOpenToOthersError)
    await expect(read).rejects.toThrow(`(mode 0${mode.toString(8)}) and is not used: run "chmod 600 ${path}"`)
    await chmod(path, 0o600)
    expect(await readPrivateFile(path)).toBe('secret')
    await chmod(path, 0o400)
    expect(await readPrivateFile(path)).toBe('secret')
  },
)
