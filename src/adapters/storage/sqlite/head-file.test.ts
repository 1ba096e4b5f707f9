import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HeadFile, readHeadFile, setHeadFileAside } from './head-file.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'head-file-'))
  path = join(folder, 'events.db')
})
afterEach(() => rm(folder, { recursive: true }))

const hashOf = (seq: number): string => seq.toString(16).padStart(64, '0')
const headAt = (seq: number) => ({ seq, hash: hashOf(seq) })
const lineAt = (seq: number): string => `${String(seq).padStart(16, '0')} ${hashOf(seq)}\n`
const written = (): Promise<string> => readFile(`${path}.head`, 'utf8')

/** The file of a log that holds every event. */
const openFile = (hashAt: (seq: number) => string | null = hashOf): HeadFile => new HeadFile(path, hashAt)

describe('the file with the newest event', () => {
  it('is made before the first commit, for its owner alone', async () => {
    expect(readHeadFile(path)).toBeNull()
    const file = openFile()
    file.prepare()
    expect((await stat(`${path}.head`)).mode & 0o777).toBe(0o600)
    expect([await written(), readHeadFile(path)]).toEqual(['', null])
    file.write(headAt(7))
    expect([await written(), readHeadFile(path)]).toEqual([lineAt(7), headAt(7)])
    file.close()
  })

  it('never goes back, whichever process writes it', async () => {
    const [one, other] = [openFile(), openFile()]
    one.write(headAt(8))
    other.write(headAt(7))
    expect(await written()).toBe(lineAt(8))
    other.write(headAt(9))
    one.write(headAt(9))
    expect(await written()).toBe(lineAt(9))
    one.close()
    other.close()
  })

  it('is opened again after each sync, and made again if it was set aside', async () => {
    const file = openFile()
    file.sync()
    file.write(headAt(1))
    file.sync()
    expect(setHeadFileAside(path, '12:30:00')).toBe(`${path}.head.12-30-00`)
    expect(await readFile(`${path}.head.12-30-00`, 'utf8')).toBe(lineAt(1))
    expect(setHeadFileAside(path, 'again')).toBeNull()
    file.write(headAt(2))
    expect(await written()).toBe(lineAt(2))
    file.close()
    file.close()
  })

  it('is evidence, and left alone, while it names an event that the log does not hold', async () => {
    for (const held of [null, hashOf(4)]) {
      await writeFile(`${path}.head`, lineAt(5))
      const file = openFile(() => held)
      file.prepare()
      file.write(headAt(6))
      expect(await written()).toBe(lineAt(5))
      setHeadFileAside(path, 'lost')
      file.prepare()
      file.write(headAt(6))
      expect(await written()).toBe(lineAt(6))
      file.close()
    }
  })

  it('names nothing if it is not one whole line', async () => {
    for (const text of [
      '',
      'x',
      lineAt(5).slice(0, -1),
      ` ${lineAt(5)}`,
      `${lineAt(5)}x`,
      lineAt(5).toUpperCase().replace('0', 'g'),
    ]) {
      await writeFile(`${path}.head`, text)
      expect(readHeadFile(path), text).toBeNull()
    }
  })

  it('is no link to another file', async () => {
    await writeFile(join(folder, 'other'), lineAt(5))
    await symlink(join(folder, 'other'), `${path}.head`)
    expect(() => readHeadFile(path)).toThrow(`${path}.head`)
    expect(() => openFile().prepare()).toThrow(`${path}.head`)
    expect(await readFile(join(folder, 'other'), 'utf8')).toBe(lineAt(5))
  })
})
