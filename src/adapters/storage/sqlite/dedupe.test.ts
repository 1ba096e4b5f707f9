import { DatabaseSync } from '@photostructure/sqlite'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { EMPTY_HEAD, type Head } from '../../../core/log/event.ts'
import { headAfter, recordsAfter } from '../../../../test/records.ts'
import { encodeBatch } from './batch.ts'
import { connect, type Database } from './database.ts'
import { DedupeIndex } from './dedupe-index.ts'
import { RUN_KEYS } from './dedupe-runs.ts'
import { EventWriter } from './event-writer.ts'
import { ensureSchema } from './schema.ts'

let folder: string
let path: string
let head: Head
const open: Database[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dedupe-'))
})
beforeEach(() => {
  for (const db of open.splice(0)) db.close()
  path = join(folder, `${crypto.randomUUID()}.db`)
  head = EMPTY_HEAD
  ensureSchema(connectTo('write'))
})
afterAll(async () => {
  for (const db of open.splice(0)) db.close()
  await rm(folder, { recursive: true, force: true })
})

const connectTo = (mode: 'read' | 'write'): Database => {
  const db = connect(path, mode)
  if (mode === 'write') db.exec('PRAGMA synchronous = OFF')
  open.push(db)
  return db
}

const writerOf = (db = connectTo('write')): EventWriter => new EventWriter(db)

/** One event in fifty has no key. */
const keyAt = (seq: number): string | null => (seq % 50 === 0 ? null : `key-${seq}`)

const store = (writer: EventWriter, count: number, batchSize: number): void => {
  for (let stored = 0; stored < count; stored += batchSize) {
    const records = recordsAfter(head, batchSize, (seq) => ({
      type: 'brain.cycle.v1',
      source: null,
      dedupeKey: keyAt(seq),
      payload: {},
    }))
    expect(writer.append(encodeBatch(records, head))).toEqual({ status: 'appended' })
    head = headAfter(records)
  }
}

const runs = (): readonly unknown[] =>
  connectTo('read')
    .prepare(
      'SELECT run, last_seq, (SELECT count(*) FROM dedupe WHERE dedupe.run = dedupe_runs.run) AS keys FROM dedupe_runs',
    )
    .all()
    .map((row: object) => ({ ...row }))

/** Where the so-and-so-many-th key stands. */
const seqOfKey = (number: number): number => number + Math.floor((number - 1) / 49)

const expectAllFound = async (index: DedupeIndex): Promise<void> => {
  const seqs = Array.from({ length: head.seq }, (_, at) => at + 1).filter((seq) => keyAt(seq) !== null)
  const found = await index.candidates(seqs.map((seq) => keyAt(seq) ?? ''))
  expect(seqs.filter((seq, at) => !found[at]?.includes(seq))).toEqual([])
  const unknown = await index.candidates(Array.from({ length: 2000 }, (_, at) => `unknown-${at}`))
  expect(unknown.flat().length).toBeLessThan(20)
}

it('moves keys to sorted runs, several rows with every append, and finds all of them', async () => {
  const early = new DedupeIndex(connectTo('read'))
  expect(await early.candidates(['key-1'])).toEqual([[]])
  const writer = writerOf()
  store(writer, 90_000, 2000)
  await expectAllFound(early)
  store(writer, 90_000, 2000)
  expect(runs()).toEqual([
    { run: 1, last_seq: seqOfKey(RUN_KEYS), keys: RUN_KEYS },
    { run: 2, last_seq: seqOfKey(2 * RUN_KEYS), keys: RUN_KEYS },
  ])
  await expectAllFound(early)
  await expectAllFound(new DedupeIndex(connectTo('read')))
}, 60_000)

it('lets any process go on with a run, also after a crash in the middle of it', async () => {
  store(writerOf(), seqOfKey(RUN_KEYS) + 5000, 2000)
  expect(runs()).toEqual([])
  expect(connectTo('read').prepare('SELECT count(*) AS n FROM dedupe').get()).toMatchObject({
    n: expect.any(Number) as number,
  })
  const [one, other] = [writerOf(), writerOf()]
  const index = new DedupeIndex(connectTo('read'))
  await expectAllFound(index)
  // Both start with nothing in memory, catch up in steps and take turns.
  for (let round = 0; round < 40; round += 1) store(round % 2 === 0 ? one : other, 2000, 2000)
  expect(runs()).toEqual([{ run: 1, last_seq: seqOfKey(RUN_KEYS), keys: RUN_KEYS }])
  await expectAllFound(index)
}, 60_000)

it('writes nothing of a run in an append that is rolled back', async () => {
  const db = connectTo('write')
  const writer = writerOf(db)
  store(writer, seqOfKey(RUN_KEYS) + 2000, 2000)
  const rows = () => connectTo('read').prepare('SELECT count(*) AS n FROM dedupe').get() as { n: number }
  const before = rows()
  const [taken] = recordsAfter(EMPTY_HEAD, 1)
  const records = recordsAfter(head, 2, () => ({ id: taken!.id, dedupeKey: 'lost' }))
  expect(() => writer.append(encodeBatch(records, head))).toThrow('UNIQUE')
  writer.rollBack()
  expect(rows()).toEqual(before)
  store(writer, 40_000, 2000)
  expect(runs()).toHaveLength(1)
  await expectAllFound(new DedupeIndex(connectTo('read')))
}, 60_000)

it('finds keys whose hashes are equal', async () => {
  const db = new DatabaseSync(path)
  const index = new DedupeIndex(db)
  await index.candidates([])
  const records = recordsAfter(EMPTY_HEAD, 3, (seq) => ({ dedupeKey: 'same', id: `same-${seq}` }))
  index.note(records)
  expect(await index.candidates(['same'])).toEqual([[1, 2, 3]])
  db.close()
})
