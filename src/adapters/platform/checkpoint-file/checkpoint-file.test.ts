import { hash } from 'node:crypto'
import {
  appendFile,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkpointText, signedNote } from '../../../core/log/checkpoint.ts'
import { EMPTY_FRONTIER, extendFrontier, rootOf, type Sha256 } from '../../../core/log/merkle.ts'
import { withFileLock } from '../../file-lock.ts'
import { checkpointFile } from './checkpoint-file.ts'

const sha256: Sha256 = (bytes) => hash('sha256', bytes, 'buffer')
const publicKey = '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c'

const noteOf = (size: number): string => {
  const leaves = Array.from({ length: size }, () => new Uint8Array(32))
  const frontier = extendFrontier(EMPTY_FRONTIER, leaves, sha256)
  const text = checkpointText({
    origin: 'signal-engine/events/00',
    frontier,
    root: rootOf(frontier, sha256),
    eventRoot: rootOf(frontier, sha256),
    head: '00'.repeat(32),
    time: '2026-02-20T00:29:58.000Z',
  })
  return signedNote(text, { keyName: 'svc-00', publicKey, signature: '00'.repeat(64) }, sha256)
}

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoints-'))
  path = join(folder, 'deeper', 'events.db.checkpoints')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const sizesIn = async (which: 'newest' | 'all' = 'all'): Promise<readonly number[]> =>
  (await checkpointFile(path).read(which)).notes.map(({ frontier }) => frontier.size)

describe('checkpoint file', () => {
  it('has nothing before the first note, and makes its folder', async () => {
    expect(await checkpointFile(path).read('newest')).toEqual({ notes: [], unreadable: 0 })
    await checkpointFile(path).append(noteOf(1))
    expect(await sizesIn()).toEqual([1])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('keeps every note byte for byte', async () => {
    const store = checkpointFile(path)
    for (const size of [1, 2, 3]) await store.append(noteOf(size))
    const { notes, unreadable } = await store.read('all')
    expect(notes.map(({ note }) => note)).toEqual([1, 2, 3].map(noteOf))
    expect(unreadable).toBe(0)
  })

  it('lets several writers append at once', async () => {
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => checkpointFile(path).append(noteOf(index + 1))),
    )
    expect(await sizesIn()).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  })

  it('lists by size, so a smaller note that came late hides nothing', async () => {
    for (const size of [5, 9, 7]) await checkpointFile(path).append(noteOf(size))
    expect(await sizesIn('newest')).toEqual([5, 7, 9])
  })

  it('reports a last note cut off at any byte, reads the ones before and goes on behind it', async () => {
    const store = checkpointFile(path)
    await store.append(noteOf(1))
    const whole = await readFile(path)
    await store.append(noteOf(2))
    const end = (await stat(path)).size
    // Only the two line ends before the note may go unnoticed, and the one after it does no harm.
    for (const cut of [3, 10, 60, 200, end - whole.length - 2]) {
      await writeFile(path, whole)
      await store.append(noteOf(2))
      await truncate(path, whole.length + cut)
      const { notes, unreadable } = await store.read('newest')
      expect([notes.map(({ frontier }) => frontier.size), unreadable]).toEqual([[1], 1])
      await store.append(noteOf(3))
      expect(await store.read('newest')).toMatchObject({ unreadable: 1 })
      expect(await sizesIn()).toEqual([1, 3])
    }
  })

  it('counts what is no note', async () => {
    await checkpointFile(path).append(noteOf(1))
    await appendFile(path, `\n\nsome text\n\n\u2014 nobody AAAA\n\n\n\u2014 nobody AAAA\n`)
    expect(await checkpointFile(path).read('all')).toMatchObject({ unreadable: 2, notes: [{}] })
  })

  it('finds the newest note behind more rubbish than it looks at first', async () => {
    await checkpointFile(path).append(noteOf(4))
    await appendFile(path, 'x'.repeat(100_000))
    expect(await sizesIn('newest')).toEqual([4])
  })

  it('reads only the end of a long file for the newest, starting at a whole note', async () => {
    const store = checkpointFile(path)
    for (let size = 1; size <= 200; size += 1) await store.append(noteOf(size))
    const newest = await store.read('newest')
    expect(newest.unreadable).toBe(0)
    expect(newest.notes.length).toBeGreaterThan(40)
    expect(newest.notes.length).toBeLessThan(200)
    expect(newest.notes.at(-1)?.frontier.size).toBe(200)
    expect((await store.read('all')).notes).toHaveLength(200)
  })

  it('is rewritten with its newest notes when it passes its limit', async () => {
    const store = checkpointFile(path, { bytesMax: 10_000, notesKept: 5 })
    for (let size = 1; size <= 60; size += 1) {
      await store.append(noteOf(size))
      expect((await stat(path)).size).toBeLessThanOrEqual(10_000)
    }
    const sizes = await sizesIn()
    expect(sizes.at(-1)).toBe(60)
    expect(sizes.length).toBeGreaterThanOrEqual(5)
    expect(await readdir(join(folder, 'deeper'))).toEqual(['events.db.checkpoints'])
  })

  it('keeps every note of writers that rewrite it at once', async () => {
    const sizes = Array.from({ length: 30 }, (_, index) => index + 1)
    await Promise.all(
      sizes.map((size) => checkpointFile(path, { bytesMax: 5000, notesKept: 1000 }).append(noteOf(size))),
    )
    expect([...new Set(await sizesIn())]).toEqual(sizes)
    expect(await readdir(join(folder, 'deeper'))).toEqual(['events.db.checkpoints'])
  })

  it('keeps a note that comes while another process rewrites it', async () => {
    await checkpointFile(path).append(noteOf(1))
    const readBefore = await readFile(path, 'utf8')
    let appending = Promise.resolve()
    await withFileLock(`${path}.lock`, async () => {
      appending = checkpointFile(path).append(noteOf(2))
      await expect.poll(() => readFile(path, 'utf8')).toContain(noteOf(2))
      // By now it is synced; what it does next must wait for us.
      await Promise.race([appending, sleep(30)])
      await writeFile(`${path}.next`, readBefore)
      await rename(`${path}.next`, path)
    })
    await appending
    expect(await sizesIn()).toEqual([1, 2])
  })

  it('is neither rewritten nor set aside while another process rewrites it', async () => {
    const store = checkpointFile(path, { bytesMax: 1, notesKept: 1 })
    await store.append(noteOf(1))
    let begun: readonly Promise<unknown>[] = []
    await withFileLock(`${path}.lock`, async () => {
      const { ino } = await stat(path)
      begun = [store.append(noteOf(2)), store.setAside('2026-02-20T00:29:58.000Z')]
      await Promise.race([...begun, sleep(30)])
      expect((await stat(path)).ino).toBe(ino)
    })
    await Promise.all(begun)
    expect(await readdir(join(folder, 'deeper'))).not.toContain('events.db.checkpoints.lock')
  })

  it('takes a note while it is set aside: it is in one of the two files', async () => {
    const store = checkpointFile(path, { bytesMax: 1, notesKept: 1000 })
    for (let round = 1; round <= 60; round += 1) {
      const at = `2026-02-20T00:00:00.${String(round).padStart(3, '0')}Z`
      await Promise.all([store.append(noteOf(round)), sleep(round % 4).then(() => store.setAside(at))])
    }
    const files = await readdir(join(folder, 'deeper'))
    const texts = await Promise.all(files.map((name) => readFile(join(folder, 'deeper', name), 'utf8')))
    for (let round = 1; round <= 60; round += 1) {
      expect(
        texts.some((text) => text.includes(noteOf(round))),
        `note ${round}`,
      ).toBe(true)
    }
  })

  it('is set aside on request, once', async () => {
    const store = checkpointFile(path)
    expect(await store.setAside('2026-02-20T00:29:58.000Z')).toBeNull()
    await store.append(noteOf(1))
    const aside = await store.setAside('2026-02-20T00:29:58.000Z')
    expect(aside).toBe(`${path}.superseded-20260220T002958000Z`)
    expect(await readFile(aside!, 'utf8')).toContain(noteOf(1))
    expect(await store.read('newest')).toEqual({ notes: [], unreadable: 0 })
  })

  it('passes on trouble other than a missing file', async () => {
    await expect(checkpointFile(folder).read('newest')).rejects.toThrow('EISDIR')
    await expect(checkpointFile(folder).append(noteOf(1))).rejects.toThrow('EISDIR')
  })
})
