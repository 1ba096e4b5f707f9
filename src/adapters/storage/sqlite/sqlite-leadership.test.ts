import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe } from 'vitest'
import { leadershipContract, REPLACED_WITHIN_MS } from '../../../ports/leadership.contract.ts'
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
})
