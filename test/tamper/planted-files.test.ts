import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkpointFile } from '../../src/adapters/platform/checkpoint-file/checkpoint-file.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { appendTo } from '../records.fixture.ts'

/*
 * A process that may write to the data folder, and to no other, plants a link or a pipe where the service changes a file in
 * place. The service has the rights to follow it.
 */

const IDENTITY = '{ "private_key": "kept in another folder" }'

let folder: string
let identity: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'planted-'))
  identity = join(folder, 'identity.json')
  await writeFile(identity, IDENTITY)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const plants: readonly (readonly [string, (path: string) => Promise<void> | void])[] = [
  ['a link to the identity', (path) => symlink(identity, path)],
  ['a pipe', (path) => void execFileSync('mkfifo', [path])],
]

describe.each(plants)('%s', (_what, plant) => {
  it('in the place of the head file is refused, and not written through', async () => {
    const path = join(folder, 'events.db')
    await plant(`${path}.head`)
    const appended = async (): Promise<void> => {
      const log = await openSqliteLog({ path })
      try {
        await appendTo(log, 1)
      } finally {
        await log.close()
      }
    }
    await expect(appended()).rejects.toThrow('events.db.head is not a regular file: remove it')
    expect(await readFile(identity, 'utf8')).toBe(IDENTITY)
  })

  it('in the place of the checkpoints is refused, and not written through', async () => {
    const path = join(folder, 'events.db.checkpoints')
    await plant(path)
    const checkpoints = checkpointFile(path)
    await expect(checkpoints.append('a note\n')).rejects.toThrow(/not a regular file|ENXIO/)
    await expect(checkpoints.read('newest')).rejects.toThrow('is not a regular file: remove it')
    expect(await readFile(identity, 'utf8')).toBe(IDENTITY)
  })
})
