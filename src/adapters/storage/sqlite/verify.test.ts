import { DatabaseSync } from '@photostructure/sqlite'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import type { LogRecord } from '../../../core/log/event.ts'
import { openSqliteLog } from './sqlite-log.ts'
import { verifyInThreads } from './verify.ts'

let folder: string
let path: string
let records: readonly LogRecord[]
const EVENTS = 2000
const SLICE = 150

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verify-'))
  path = join(folder, 'events.db')
  const log = await openSqliteLog({ path })
  records = await appendTo(log, EVENTS)
  await log.close()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const verify = (range = { after: 0, upTo: EVENTS }) =>
  verifyInThreads(path, range, { signal: new AbortController().signal, threads: 2, sliceEvents: SLICE })

const change = (sql: string): void => {
  const db = new DatabaseSync(path)
  db.exec(`DROP TRIGGER IF EXISTS events_no_update; ${sql}`)
  db.close()
}

it('passes slices that fit together', async () => {
  expect(await verify()).toEqual({ ok: true, checked: EVENTS })
  expect(await verify({ after: 77, upTo: 1999 })).toEqual({ ok: true, checked: 1922 })
})

it('finds what is wrong at a seam, and the first of all faults', async () => {
  const hash = `'${'ab'.repeat(32)}'`
  for (const seq of [SLICE, SLICE + 1, 7 * SLICE, 7 * SLICE + 1]) {
    const record = records[seq - 1]!
    change(`UPDATE events SET hash = ${hash} WHERE seq = ${seq}`)
    change(`UPDATE events SET payload = '{}' WHERE seq = 1990`)
    expect(await verify()).toMatchObject({ ok: false, checked: seq - 1, seq, id: record.id, kind: 'hash' })
    change(`UPDATE events SET hash = '${record.hash}' WHERE seq = ${seq}`)
    change(`UPDATE events SET prev_hash = ${hash} WHERE seq = ${seq}`)
    expect(await verify()).toMatchObject({ ok: false, checked: seq - 1, seq, id: record.id, kind: 'link' })
    change(`UPDATE events SET prev_hash = '${record.prevHash}' WHERE seq = ${seq}`)
  }
  expect(await verify()).toMatchObject({ ok: false, seq: 1990 })
})

it('takes no bytes for a text that they are not, even if they hash as stored', async () => {
  const { prevHash, ts, id, type, schemaVersion, source, traceId, dedupeKey, hash, payload } = records.at(-1)!
  const head = [prevHash, ts, id, type, schemaVersion, source ?? '', traceId ?? '', dedupeKey ?? ''].join('|')
  const bytes = Buffer.from('{"a":"\xff"}', 'latin1')
  const forged = createHash('sha256').update(`${head}|`).update(bytes).digest('hex')
  const store = (text: string, sum: string): void =>
    change(`UPDATE events SET payload = ${text}, hash = '${sum}' WHERE seq = ${EVENTS}`)
  store(`CAST(x'${bytes.toString('hex')}' AS TEXT)`, forged)
  expect(await verify({ after: EVENTS - 10, upTo: EVENTS })).toMatchObject({
    ok: false,
    seq: EVENTS,
    kind: 'hash',
  })
  store(`'${payload.replaceAll("'", "''")}'`, hash)
  expect(await verify({ after: EVENTS - 9, upTo: EVENTS })).toMatchObject({ ok: true })
})

it('tells when the file cannot be read', async () => {
  await expect(
    verifyInThreads(
      join(folder, 'none.db'),
      { after: 0, upTo: 10 },
      { signal: new AbortController().signal },
    ),
  ).rejects.toThrow('cannot verify')
})

it('ends when the log is closed, also in the middle', async () => {
  const closing = new AbortController()
  const range = { after: 0, upTo: EVENTS, onProgress: () => closing.abort() }
  const options = { signal: closing.signal, threads: 2, sliceEvents: EVENTS / 2 }
  await expect(verifyInThreads(path, range, options)).rejects.toThrow('the log is closed')
})
