import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { appendAgainstOthers } from '../../../../test/postgres/records.fixture.ts'
import {
  postgresMissing,
  startPostgres,
  type PostgresServer,
} from '../../../../test/postgres/server.fixture.ts'
import { appendTo, type Said } from '../../../../test/records.ts'
import { symbolRef } from '../../../core/log/refs.ts'
import type { EventLog } from '../../../ports/event-log.ts'
import { IndexRun } from './index-run.ts'
import { openPostgresLog } from './postgres-log.ts'

const NOT_NOW_MS = 600_000

describe.skipIf(postgresMissing !== null)(`the index (${postgresMissing ?? 'PostgreSQL'})`, () => {
  let server: PostgresServer
  let url: string
  let client: Client
  let opened: EventLog[]
  beforeAll(async () => {
    server = await startPostgres({ fsync: 'off' })
  })
  afterAll(() => server?.stop())
  beforeEach(async () => {
    url = await server.freshDatabase()
    opened = []
    await open()
    client = new Client({ connectionString: url })
    await client.connect()
  })
  afterEach(async () => {
    await Promise.all(opened.map((log) => log.close()))
    await client.end()
  })

  const open = async (indexPauseMs = NOT_NOW_MS): Promise<EventLog> => {
    const log = await openPostgresLog({ url, indexPauseMs })
    opened.push(log)
    return log
  }
  const runs = async (): Promise<readonly (readonly [number, number])[]> => {
    const { rows } = await client.query<{ from_seq: string; up_to: string }>(
      'SELECT from_seq, up_to FROM index_runs ORDER BY from_seq',
    )
    return rows.map((row) => [Number(row.from_seq), Number(row.up_to)])
  }
  const lastCounts = async (): Promise<Readonly<Record<string, number>>> => {
    const { rows } = await client.query<{ dom: string; count: string }>(
      'SELECT DISTINCT ON (dom) dom, count FROM domain_runs ORDER BY dom, run DESC',
    )
    return Object.fromEntries(rows.map(({ dom, count }) => [dom, Number(count)]))
  }

  it('follows soon after an append, which does not wait for it', async () => {
    const log = await open(10)
    await client.query('BEGIN; LOCK TABLE index_runs IN SHARE MODE')
    await appendTo(log, 3, say)
    expect(await runs()).toEqual([])
    await client.query('COMMIT')
    await expect.poll(async () => (await runs()).at(-1)?.[1]).toBe(3)
  })

  it('takes full runs at once, and the rest when the log is closed', async () => {
    const log = await open()
    await appendTo(log, 2_500, say)
    await expect.poll(runs).toEqual([
      [1, 1_024],
      [1_025, 2_048],
    ])
    await log.close()
    expect((await runs()).at(-1)).toEqual([2_049, 2_500])
    expect(await lastCounts()).toEqual({ 'signal.ta': 1_250, 'brain.cycle': 1_250 })
  })

  it('has every event once, however many append and index', async () => {
    const logs = await Promise.all([open(0), open(1), open(5), open(0)])
    await Promise.all(
      logs.map(async (log) => {
        for (let batch = 1; batch <= 15; batch += 1) await appendAgainstOthers(log, batch * 3, say)
      }),
    )
    await Promise.all(logs.map((log) => log.close()))
    // What is left when several close at once is taken up by the next who appends.
    const last = await open()
    await appendTo(last, 1, say)
    await last.close()

    const total = 4 * 3 * 120 + 1
    let before = 0
    for (const [from, upTo] of await runs()) {
      expect(from).toBe(before + 1)
      before = upTo
    }
    expect(before).toBe(total)
    expect(await lastCounts()).toEqual({ 'signal.ta': (total - 1) / 2, 'brain.cycle': (total + 1) / 2 })
    const { rows } = await client.query<{ n: string }>(
      'SELECT count(DISTINCT run + place) AS n FROM domain_runs, unnest(places) AS place',
    )
    expect(Number(rows[0]?.n)).toBe(total)
  })

  it('takes a run only right behind the last one', async () => {
    const stored = await appendTo(await open(), 9, say)
    const added = async (from: number, upTo: number): Promise<boolean> => {
      const run = new IndexRun(from)
      for (const record of stored.slice(from - 1, upTo)) run.add(record)
      const { text, values } = run.statement
      return (await client.query(text, [...values])).rowCount === 1
    }
    expect(await added(3, 4)).toBe(false)
    expect(await added(1, 4)).toBe(true)
    expect(await added(1, 4)).toBe(false)
    expect(await added(3, 6)).toBe(false)
    expect(await added(6, 9)).toBe(false)
    expect(await added(5, 9)).toBe(true)
    expect(await lastCounts()).toEqual({ 'signal.ta': 4, 'brain.cycle': 5 })
  })

  it('is completed by the next who appends', async () => {
    const left = await open()
    await appendTo(left, 900, say)
    expect(await runs()).toEqual([])
    const next = await open(0)
    await appendTo(next, 1, say)
    await expect.poll(async () => (await runs()).at(-1)?.[1]).toBe(901)
    expect((await next.read({ about: symbolRef('A'), order: 'asc', limit: 1 }))[0]?.seq).toBe(3)
  })

  it('is made again after a time without it', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    await client.query(refuseRuns('53100'))
    const log = await open(5)
    const stored = await appendTo(log, 40, say)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(await runs()).toEqual([])
    expect(await log.read({ types: ['signal.ta'], order: 'asc', limit: 2 })).toEqual([stored[1], stored[3]])
    await client.query('DROP TRIGGER refuse ON index_runs')
    await appendTo(log, 1, say)
    await expect.poll(async () => (await runs()).at(-1)?.[1]).toBe(41)
    expect(warned).not.toHaveBeenCalled()
    warned.mockRestore()
  })

  it('is given up where somebody removed events', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const other = await open()
    await appendTo(other, 3, say)
    const log = await open()
    await appendTo(log, 2, say)
    await client.query('ALTER TABLE events DISABLE TRIGGER events_append_only; DELETE FROM events')
    await log.close()
    expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('there is no event behind 0'))
    warned.mockRestore()
  })

  it('goes on behind a payload that somebody broke', async () => {
    const left = await open()
    await appendTo(left, 3, say)
    await client.query('ALTER TABLE events DISABLE TRIGGER events_append_only')
    await client.query(`UPDATE events SET payload = '{"signal_ids":[' WHERE seq = 2`)
    const log = await open()
    await appendTo(log, 1, say)
    await log.close()
    expect((await runs()).at(-1)?.[1]).toBe(4)
    const found = await (await open()).read({ about: symbolRef('B'), order: 'asc', limit: 10 })
    expect(found.map(({ seq }) => seq)).toEqual([1, 4])
  })

  it('that can never be made is told once, and stops nothing', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue()
    await client.query(refuseRuns('42501'))
    const log = await open(0)
    for (let batch = 0; batch < 5; batch += 1) await appendTo(log, 2, say)
    await log.close()
    expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('events are not indexed'))
    expect(await (await open()).countByDomain()).toEqual(
      new Map([
        ['signal.ta', 5],
        ['brain.cycle', 5],
      ]),
    )
    warned.mockRestore()
  })
})

const say = (seq: number): Said => ({
  type: seq % 2 === 0 ? 'signal.ta.v1' : 'brain.cycle.v1',
  payload: { symbol: seq % 3 === 0 ? 'a' : 'b' },
})

const refuseRuns = (code: string): string => `
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON index_runs EXECUTE FUNCTION refuse()`
