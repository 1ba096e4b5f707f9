import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leadershipContract, REPLACED_WITHIN_MS } from '../../../ports/leadership.contract.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { sqliteLeadership } from './sqlite-leadership.ts'
import { openSqliteLog } from './sqlite-log.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leader-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('leading on a SQLite log', () => {
  leadershipContract('a heartbeat file', async (timer) => {
    const path = join(folder, 'events.db')
    const log = await openSqliteLog({ path })
    return { log, leadership: sqliteLeadership({ path, log, replacedWithinMs: REPLACED_WITHIN_MS, timer }) }
  })

  it.each([2 ** 53 - 1, 2 ** 60])('forgets leader %d when it is reset', async (largest) => {
    const path = join(folder, 'events.db')
    const log = await openSqliteLog({ path })
    const options = { path, log, replacedWithinMs: REPLACED_WITHIN_MS, timer: createSystemTimer() }
    const leadership = sqliteLeadership(options)
    expect(await leadership.stored()).toEqual({ token: 0, endsInMs: 0 })
    await (await leadership.tryToLead(6))?.release()
    expect(await leadership.stored()).toEqual({ token: 7, endsInMs: 0 })
    const database = new DatabaseSync(path)
    database.exec(`INSERT INTO leaders VALUES (${BigInt(largest)}, '')`)
    database.close()
    await rm(`${path}.leader`)
    await mkdir(`${path}.leader`)
    expect(await leadership.stored()).toEqual({ token: largest, endsInMs: Infinity })
    await leadership.reset(5)
    expect(await leadership.stored()).toEqual({ token: 0, endsInMs: 0 })
    const lease = await leadership.tryToLead(5)
    expect(lease?.token).toBe(6)
    await lease?.release()
    await log.close()
  })
})
