import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { appendTo } from '../../../../test/records.fixture.ts'
import type { LogRecord } from '../../../core/log/event.ts'
import type { EventLog, Snapshot } from '../../../ports/event-log.ts'
import { allRows, connect, prepareRows, type Database, type Row } from './database.ts'
import { partsOf, SnapshotWriter } from './snapshots.ts'
import { openSqliteLog } from './sqlite-log.ts'

const TEXT = `${'x'.repeat(65_535)}🦊${'ü'.repeat(70_000)}`

let folder: string
let path: string
let log: EventLog
let records: readonly LogRecord[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'snapshots-'))
  path = join(folder, 'events.db')
  log = await openSqliteLog({ path })
  records = await appendTo(log, 10)
})
afterEach(async () => {
  await log.close()
  await rm(folder, { recursive: true, force: true })
})

const snapshotAt = (seq: number, state = TEXT): Snapshot => ({
  seq,
  chainHash: records[seq - 1]!.hash,
  stateVersion: 'v',
  stateHash: 'h',
  state,
  signature: 'a1'.repeat(64),
  signer: 'svc-1',
})

const inFile = <Result>(look: (db: Database) => Result): Result => {
  const db = connect(path, 'write')
  try {
    return look(db)
  } finally {
    db.close()
  }
}

const partsInFile = (): readonly Row[] =>
  inFile((db) =>
    allRows(prepareRows(db, 'SELECT seq, count(*) FROM snapshot_parts GROUP BY seq ORDER BY seq')),
  )

it('is cut into parts of whole characters', () => {
  const pieces = [...partsOf(snapshotAt(1))]
  expect(pieces.length).toBe(3)
  expect(pieces.every(({ text }) => text.isWellFormed() && text.length <= 65_536)).toBe(true)
  expect(pieces.map(({ text }) => text).join('')).toBe(TEXT)
  expect(pieces.map(({ whole }) => whole !== null)).toEqual([false, false, true])
  expect([...partsOf(snapshotAt(1, ''))]).toHaveLength(1)
})

it('counts only when it is whole, and what is left of one that was not is dropped', async () => {
  await log.saveSnapshot(snapshotAt(1))
  inFile((db) => new SnapshotWriter(db).save([...partsOf(snapshotAt(5))][0]!))
  expect(await log.loadSnapshot('v')).toEqual(snapshotAt(1))
  expect(partsInFile()).toEqual([
    [1, 3],
    [5, 1],
  ])
  for (const seq of [6, 7]) await log.saveSnapshot(snapshotAt(seq))
  expect(await log.loadSnapshot('v')).toEqual(snapshotAt(7))
  for (const seq of [8, 9]) await log.saveSnapshot(snapshotAt(seq))
  // Seven was forgotten by the end of nine, and goes with the next.
  expect(partsInFile()).toEqual([
    [7, 3],
    [8, 3],
    [9, 3],
  ])
})

it('is not kept if somebody dropped a part of it meanwhile', () => {
  inFile((db) => {
    const writer = new SnapshotWriter(db)
    const [first, second, last] = [...partsOf(snapshotAt(3))]
    writer.save(first!)
    writer.save(second!)
    db.exec('DELETE FROM snapshot_parts WHERE part = 0')
    writer.save(last!)
  })
  return expect(log.loadSnapshot('v')).resolves.toBeNull()
})

it('of the same events again replaces the first, also when it is shorter', async () => {
  await log.saveSnapshot(snapshotAt(2))
  await log.saveSnapshot(snapshotAt(2, 'short'))
  expect(await log.loadSnapshot('v')).toEqual(snapshotAt(2, 'short'))
})
