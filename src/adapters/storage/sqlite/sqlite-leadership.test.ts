import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { leadershipContract } from '../../../ports/leadership.contract.ts'
import { sqliteLeadership } from './sqlite-leadership.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leader-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('leading on a SQLite log', () => {
  leadershipContract('a lock file', () =>
    Promise.resolve(sqliteLeadership({ path: join(folder, 'events.db') })),
  )
})
