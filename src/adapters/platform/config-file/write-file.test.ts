import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigurationFileError } from '../../../ports/config-file.ts'
import { createFile, createUserSettings, replaceFile } from './user-settings.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-write-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('replaceFile', () => {
  it('makes the folder, writes for the owner only, and leaves nothing else behind', async () => {
    const path = join(folder, 'config', 'user.yaml')
    expect(await replaceFile(path, 'one', null)).toBe('written')
    expect([await readFile(path, 'utf8'), await modeOf(path)]).toStrictEqual(['one', '600'])
    expect(await readdir(join(folder, 'config'))).toStrictEqual(['user.yaml'])
  })

  it('closes a file that others could read', async () => {
    const path = join(folder, 'user.yaml')
    await writeFile(path, 'one', { mode: 0o644 })
    expect(await replaceFile(path, 'two', 'one')).toBe('written')
    expect(await modeOf(path)).toBe('600')
  })

  it('writes nothing when the file is not the one that was read', async () => {
    const path = join(folder, 'user.yaml')
    await writeFile(path, 'other')
    expect(await replaceFile(path, 'two', 'one')).toBe('moved')
    expect(await replaceFile(path, 'two', null)).toBe('moved')
    expect(await readFile(path, 'utf8')).toBe('other')
    await rm(path)
    expect(await replaceFile(path, 'two', 'other')).toBe('moved')
    expect(await readdir(folder)).toStrictEqual([])
  })

  it('writes through a link', async () => {
    const real = join(folder, 'real.yaml')
    await writeFile(real, 'one')
    await symlink(real, join(folder, 'user.yaml'))
    expect(await replaceFile(join(folder, 'user.yaml'), 'two', 'one')).toBe('written')
    expect(await readFile(real, 'utf8')).toBe('two')
  })

  it('says which file could not be written', async () => {
    await writeFile(join(folder, 'file'), '')
    const path = join(folder, 'file', 'user.yaml')
    await expect(replaceFile(path, 'x', null)).rejects.toThrow(ConfigurationFileError)
    await expect(replaceFile(path, 'x', null)).rejects.toThrow(`${path} could not be written (ENOTDIR)`)
  })
})

describe('createFile', () => {
  it('is won by exactly one of many, whose whole text stands', async () => {
    const path = join(folder, 'config', 'user.yaml')
    const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(1000))
    const results = await Promise.all(texts.map((text) => createFile(path, text)))
    const winners = results.flatMap((result, index) => (result === 'created' ? [texts[index]] : []))
    expect(winners).toStrictEqual([await readFile(path, 'utf8')])
    expect(await modeOf(path)).toBe('600')
    expect(await readdir(join(folder, 'config'))).toStrictEqual(['user.yaml'])
  })

  it('says when it cannot', async () => {
    await writeFile(join(folder, 'file'), '')
    await expect(createFile(join(folder, 'file', 'x'), 'x')).rejects.toThrow(ConfigurationFileError)
  })
})

describe('createUserSettings', () => {
  it('keeps the file of an earlier run', async () => {
    const token = 'x'.repeat(43)
    const path = join(folder, 'config', 'user.yaml')
    expect(await createUserSettings(folder, { api: { auth_token: token } })).toStrictEqual({
      status: 'created',
      path,
    })
    expect(await createUserSettings(folder, { api: { auth_token: 'other' } })).toStrictEqual({
      status: 'exists',
      path,
    })
    expect(await readFile(path, 'utf8')).toContain(`auth_token: ${token}`)
    expect(await modeOf(path)).toBe('600')
  })
})
