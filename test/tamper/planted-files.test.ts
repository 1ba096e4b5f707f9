import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkpointFile } from '../../src/adapters/platform/checkpoint-file/checkpoint-file.ts'
import { createSystemTimer } from '../../src/adapters/platform/timer/system-timer.ts'
import { sqliteLeadership } from '../../src/adapters/storage/sqlite/sqlite-leadership.ts'
import { openSqliteLog } from '../../src/adapters/storage/sqlite/sqlite-log.ts'
import { askServiceOf } from '../../src/compose/service-file.ts'
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

  it('in the place of the heartbeat is not waited for, and a process leads', async () => {
    const path = join(folder, 'events.db')
    const log = await openSqliteLog({ path })
    const timer = createSystemTimer()
    const leadership = () => sqliteLeadership({ path, log, replacedWithinMs: 500, timer })
    try {
      await (await leadership().tryToLead(0))?.release()
      await rm(`${path}.leader`)
      await plant(`${path}.leader`)
      const standby = leadership()
      const lease = await vi.waitUntil(() => standby.tryToLead(0), { timeout: 5000 })
      expect(lease.token).toBe(2)
      await lease.release()
    } finally {
      await log.close()
    }
    expect(await readFile(identity, 'utf8')).toBe(IDENTITY)
  })

  it('in the place of the file that names the service names none', async () => {
    await mkdir(join(folder, 'data'))
    await plant(join(folder, 'data', 'service.json'))
    expect(await askServiceOf(folder)).toBeNull()
  })
})
