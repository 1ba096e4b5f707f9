import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  postgresMissing,
  sharedPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { appendTo, headAfter, recordsAfter } from '../../../../test/records.fixture.ts'
import { EMPTY_HEAD } from '../../../core/log/event.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { REPLACED_WITHIN_MS } from '../../../ports/leadership.contract.ts'
import { TargetInUseError, TargetTakenError } from '../../../ports/log-target.ts'
import { createSystemTimer } from '../../platform/timer/system-timer.ts'
import { postgresLeadership } from './postgres-leadership.ts'
import { openPostgresLog } from './postgres-log.ts'
import { postgresTarget } from './postgres-target.ts'

const AT = '2026-02-20T00:30:00.000Z'

describe.skipIf(postgresMissing !== null)('a PostgreSQL database as the place of a copy', () => {
  let server: PostgresServer
  let url = ''
  beforeAll(async () => {
    server = await sharedPostgres()
  })
  beforeEach(async () => {
    url = await server.freshDatabase()
  })

  const withLog = async <Result>(use: (log: EventLog) => Promise<Result>): Promise<Result> => {
    const log = await openPostgresLog({ url })
    try {
      return await use(log)
    } finally {
      await log.close()
    }
  }
  const lead = async (): Promise<number> => {
    const timer = createSystemTimer()
    const leadership = postgresLeadership({ url, replacedWithinMs: REPLACED_WITHIN_MS, timer })
    const lease = await leadership.tryToLead(0)
    await lease?.release()
    await leadership.close()
    return lease?.token ?? 0
  }
  const copyOf = async (count: number, replace = false): Promise<{ readonly replaced: string | null }> => {
    const draft = await postgresTarget({ url }).draft({ replace, at: AT })
    const records = recordsAfter(EMPTY_HEAD, count)
    await draft.append(records.slice(0, 3), EMPTY_HEAD)
    await draft.append(records.slice(3), headAfter(records.slice(0, 3)))
    expect(await draft.head()).toMatchObject(headAfter(records))
    expect(await draft.treeNodes({ level: 0, from: 0, to: 2 })).toHaveLength(2)
    const installed = await draft.install()
    await draft.discard()
    return installed
  }

  it('is empty, also with a log that has no event', async () => {
    expect(await postgresTarget({ url }).look()).toEqual({ status: 'empty' })
    await withLog((log) => log.head())
    expect(await postgresTarget({ url }).look()).toEqual({ status: 'empty' })
    expect(await copyOf(5)).toEqual({ replaced: null })
  })

  it('holds the copy once it is installed, which goes on as a log', async () => {
    await copyOf(5)
    const [first] = await withLog(async (log) => {
      expect(await log.verifyHashes({ after: 0, upTo: 5 })).toEqual({ ok: true, checked: 5 })
      await appendTo(log, 2)
      return log.read({ order: 'asc', limit: 1 })
    })
    const found = { status: 'log', head: { seq: 7 }, firstHash: first?.hash }
    expect(await postgresTarget({ url }).look()).toMatchObject(found)
  })

  it('holds nothing of a copy that is discarded', async () => {
    const draft = await postgresTarget({ url }).draft({ replace: false, at: AT })
    await draft.append(recordsAfter(EMPTY_HEAD, 2), EMPTY_HEAD)
    await draft.discard()
    await draft.discard()
    expect(await postgresTarget({ url }).look()).toEqual({ status: 'empty' })
  })

  it('is not replaced unless that is wanted, and then keeps what was there', async () => {
    await withLog((log) => appendTo(log, 4))
    await expect(postgresTarget({ url }).draft({ replace: false, at: AT })).rejects.toThrow(TargetTakenError)
    expect(await copyOf(5, true)).toEqual({
      replaced: 'the schema log_replaced_20260220t003000000z of the database',
    })
    expect(await withLog((log) => log.head())).toMatchObject({ seq: 5 })
  })

  it('gives no token of a leader twice', async () => {
    await withLog((log) => appendTo(log, 4))
    await lead()
    const token = await lead()
    await copyOf(5, true)
    expect(await lead()).toBeGreaterThan(token)
  })

  it('is not touched while another process uses its log', async () => {
    const target = postgresTarget({ url })
    await withLog(async (log) => {
      await appendTo(log, 2)
      await expect(target.look()).rejects.toThrow(TargetInUseError)
      await expect(target.draft({ replace: true, at: AT })).rejects.toThrow(TargetInUseError)
    })
    await expect.poll(() => target.look()).toMatchObject({ status: 'log' })
  })

  it('cannot be looked at where it is not', async () => {
    const nowhere = postgresTarget({ url: 'postgres://localhost:1/none' })
    await expect(nowhere.look()).rejects.toThrow('PostgreSQL')
    await expect(nowhere.draft({ replace: false, at: AT })).rejects.toThrow('PostgreSQL')
  })
})
