import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codeHash } from './code-hash.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'code-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const write = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(join(home, file)), { recursive: true })
  await writeFile(join(home, file), text)
}

describe('the hash of code', () => {
  it('is that of the producers for the brain, and none where nothing of the user runs', async () => {
    expect(await codeHash('brain', home)).toBeNull()
    await write('strategies/mine.ts', 'one')
    expect(await codeHash('brain', home)).toBeNull()
    expect(await codeHash('momentum', home)).toBeNull()
    await write('producers/depth.ts', 'one')
    expect(await codeHash('brain', home)).toMatch(/^[0-9a-f]{64}$/)
    expect(await codeHash('brain', home)).not.toBe(await codeHash('mine', home))
  })

  it('changes with every file that may be read, also in folders and behind links', async () => {
    await write('producers/depth.ts', 'one')
    await write('elsewhere.ts', 'one')
    await symlink(join(home, 'elsewhere.ts'), join(home, 'producers', 'linked.ts'))
    await symlink(join(home, 'nowhere.ts'), join(home, 'producers', 'broken.ts'))
    const seen = [await codeHash('brain', home)]
    for (const [file, text] of [
      ['producers/depth.ts', 'two'],
      ['producers/lib/means.ts', 'one'],
      ['producers/lib/means.ts', 'two'],
      ['elsewhere.ts', 'two'],
    ] as const) {
      await write(file, text)
      seen.push(await codeHash('brain', home))
    }
    expect(new Set(seen).size).toBe(seen.length)
    await write('producers/node_modules/other/index.js', 'one')
    expect(await codeHash('brain', home)).toBe(seen.at(-1))
  })

  it('is refused where the folder cannot be read', async () => {
    await write('strategies', 'a file')
    await expect(codeHash('mine', home)).rejects.toThrow('ENOTDIR')
  })
})
