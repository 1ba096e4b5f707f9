import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { appendTo, timeAt } from '../../../../test/records.fixture.ts'
import type { LogRecord } from '../../../core/log/event.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { openSqliteLog } from './sqlite-log.ts'

let folder: string
let log: EventLog
let records: readonly LogRecord[]

/** More domains than one statement merges, and more events than are skipped in one step. */
const DOMAINS = 150
const EVENTS = 12_000

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'many-domains-'))
  log = await openSqliteLog({ path: join(folder, 'events.db') })
  records = await appendTo(log, EVENTS, (seq) => ({
    type: `signal.domain_${seq % DOMAINS}.v1`,
    ts: timeAt((seq * 7919) % EVENTS),
    payload: {},
  }))
})
afterAll(async () => {
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

it('merges the events of all of them', async () => {
  expect(await log.read({ types: ['signal'], order: 'desc', limit: 200 })).toEqual(
    records.slice(-200).toReversed(),
  )
  expect(await log.read({ types: ['signal'], order: 'asc', limit: 30, after: 4000, before: 4020 })).toEqual(
    records.slice(4000, 4019),
  )
})

it('merges their signals by time, however far the offset', async () => {
  const byTime = records.toSorted((one, other) => (one.ts < other.ts ? 1 : -1))
  const small = byTime.filter(({ type }) => type === 'signal.domain_7.v1')
  for (const offset of [0, 1, 4999, 5000, 5001, 10_001, 11_990, 20_000]) {
    expect(await log.readByTime({ domain: null, limit: 20, offset })).toEqual(
      byTime.slice(offset, offset + 20),
    )
  }
  expect(await log.readByTime({ domain: 'signal.domain_7', limit: 50, offset: 40 })).toEqual(small.slice(40))
})
