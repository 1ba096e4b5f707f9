import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { headAfter, recordsAfter } from '../../../../test/records.ts'
import { EMPTY_HEAD, type Head } from '../../../core/log/event.ts'
import { encodeBatch } from './batch.ts'
import { allRows, connect, prepareRows, type Database } from './database.ts'
import { DedupeIndex } from './dedupe-index.ts'
import { EventWriter } from './event-writer.ts'
import { ensureSchema } from './schema.ts'

/** Small, so that many runs are filled; the contract fills one of the real size. */
const RUN = 1500

let folder: string
let path: string
let head: Head
let files = 0
const connections: Database[] = []

const startAnew = (): void => {
  path = join(folder, `${(files += 1)}.db`)
  head = EMPTY_HEAD
  const db = connectTo('write')
  ensureSchema(db, db)
}
const closeAll = (): void => connections.splice(0).forEach((db) => db.close())

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dedupe-'))
})
beforeEach(startAnew)
afterEach(closeAll)
afterAll(() => rm(folder, { recursive: true, force: true }))

const connectTo = (mode: 'read' | 'write'): Database => {
  const db = connect(path, mode)
  if (mode === 'write') db.exec('PRAGMA synchronous = OFF')
  connections.push(db)
  return db
}

const newWriter = (): EventWriter => new EventWriter(connectTo('write'), RUN)
const newIndex = (): DedupeIndex => new DedupeIndex(connectTo('read'), RUN)

/** One event in fifty has no key. */
const keyAt = (seq: number): string | null => (seq % 50 === 0 ? null : `key-${seq}`)
/** Where the so-and-so-many-th key stands. */
const seqOfKey = (number: number): number => number + Math.floor((number - 1) / 49)

const store = (writer: EventWriter, count: number): void => {
  const say = (seq: number) => ({ type: 'brain.cycle.v1', source: null, dedupeKey: keyAt(seq), payload: {} })
  const records = recordsAfter(head, count, say)
  expect(writer.append(encodeBatch(records, head))).toEqual({ status: 'appended' })
  head = headAfter(records)
}

const storeUpTo = (writer: EventWriter, seq: number): void => {
  while (head.seq < seq) store(writer, Math.min(50, seq - head.seq))
}

const runs = (): readonly unknown[] =>
  allRows(
    prepareRows(
      connectTo('read'),
      `SELECT run, last_seq, (SELECT sum(octet_length(entries)) / 8 FROM dedupe WHERE id >> 32 = run) FROM dedupe_runs`,
    ),
  )
const sealed = (run: number): readonly number[] => [run, seqOfKey(run * RUN), RUN]

const expectAllFound = async (index: DedupeIndex): Promise<void> => {
  const seqs = Array.from({ length: head.seq }, (_, at) => at + 1).filter((seq) => keyAt(seq) !== null)
  const found = await index.candidates(seqs.map((seq) => keyAt(seq) ?? ''))
  expect(seqs.filter((seq, at) => !found[at]?.includes(seq))).toEqual([])
  const unknown = await index.candidates(Array.from({ length: 2000 }, (_, at) => `unknown-${at}`))
  expect(unknown.flat().length).toBeLessThan(20)
}

it('moves keys to sorted runs, a piece with every append, and finds all of them', async () => {
  const early = newIndex()
  expect(await early.candidates(['key-1'])).toEqual([[]])
  const writer = newWriter()
  storeUpTo(writer, seqOfKey(RUN))
  expect(runs()).toEqual([])
  await expectAllFound(early)
  storeUpTo(writer, seqOfKey(4 * RUN) + 200)
  expect(runs()).toEqual([sealed(1), sealed(2), sealed(3), sealed(4)])
  await expectAllFound(early)
  await expectAllFound(newIndex())
})

it('lets any process go on with a run, after a crash in the middle of it, whoever wrote how much', async () => {
  const step = fc.record({ writer: fc.nat(2), count: fc.integer({ min: 1, max: 900 }), crash: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      startAnew()
      const writers = [newWriter(), newWriter(), newWriter()]
      const index = newIndex()
      for (const { writer, count, crash } of steps) {
        store(writers[writer]!, count)
        // Who comes after a crash knows nothing but the tables.
        if (crash) writers[writer] = newWriter()
        await index.candidates([])
      }
      for (let round = 0; round < 5; round += 1) for (const writer of writers) store(writer, 50)
      await expectAllFound(index)
      await expectAllFound(newIndex())
      closeAll()
    }),
    { numRuns: 6 },
  )
}, 60_000)

it('writes nothing of a run in an append that is rolled back', async () => {
  const writer = newWriter()
  store(writer, seqOfKey(RUN) - 3)
  const records = recordsAfter(head, 20, () => ({ id: 'taken', dedupeKey: 'lost' }))
  expect(() => writer.append(encodeBatch(records, head))).toThrow('UNIQUE')
  writer.rollBack()
  storeUpTo(writer, seqOfKey(RUN) + 200)
  expect(runs()).toEqual([sealed(1)])
  await expectAllFound(newIndex())
})

it('begins a run again when somebody changed its keys behind our back', async () => {
  const writer = newWriter()
  storeUpTo(writer, seqOfKey(RUN))
  connectTo('write').exec(
    `DROP TRIGGER events_no_update; UPDATE events SET dedupe_key = replace(dedupe_key, 'key', 'other'); UPDATE dedupe SET id = id + 1`,
  )
  const another = newWriter()
  storeUpTo(another, seqOfKey(RUN) + 1000)
  expect(runs()).toEqual([sealed(1)])
  expect((await newIndex().candidates(['other-7']))[0]).toContain(7)
})

it('finds keys whose hashes are equal', async () => {
  const index = newIndex()
  await index.candidates([])
  index.note(recordsAfter(EMPTY_HEAD, 3, () => ({ dedupeKey: 'same' })))
  expect(await index.candidates(['same'])).toEqual([[1, 2, 3]])
})
