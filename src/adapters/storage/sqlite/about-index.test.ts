import { DatabaseSync } from '@photostructure/sqlite'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ABOUT_TABLE, AboutReader, AboutWriter, BUCKET_EVENTS } from './about-index.ts'

const openIndex = () => {
  const db = new DatabaseSync(':memory:')
  db.exec(ABOUT_TABLE)
  return { db, writer: new AboutWriter(db), reader: new AboutReader(db) }
}

const EVERYWHERE = { after: 0, before: 1e9 }

it('finds exactly what was stored, in any cut', () => {
  const bound = fc.oneof(fc.nat(3000), fc.nat(200_000))
  const batches = fc.array(
    fc.array(
      fc.tuple(fc.nat(3), fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 9000 }))),
      { maxLength: 30 },
    ),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(
      batches,
      bound,
      bound,
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 20 }),
      (lists, after, before, order, count) => {
        const { db, writer, reader } = openIndex()
        const model: { key: number; seq: number }[] = []
        let seq = 0
        for (const list of lists) {
          for (const [key, step] of list) {
            seq += step
            writer.add(key, seq)
            writer.add(key, seq)
            model.push({ key, seq })
          }
          writer.store()
        }
        for (const key of [0, 1, 2, 3, 4]) {
          const within = model
            .filter((entry) => entry.key === key && entry.seq > after && entry.seq < before)
            .map((entry) => entry.seq)
          const wanted = order === 'asc' ? within : within.reverse()
          const found = reader.seqs(key, { after, before }, order, count)
          expect(found).toEqual(wanted.slice(0, found.length))
          expect(found.length).toBeGreaterThanOrEqual(Math.min(count, wanted.length))
        }
        db.close()
      },
    ),
  )
})

it('holds events that stand far apart in one append', () => {
  const { writer, reader } = openIndex()
  const seqs = [1, 2, BUCKET_EVENTS - 1, BUCKET_EVENTS, BUCKET_EVENTS + 1, 200_000, 400_000]
  for (const seq of seqs) writer.add(7, seq)
  writer.store()
  expect(reader.seqs(7, EVERYWHERE, 'asc', 10)).toEqual(seqs)
  const [, , last, first, second] = seqs
  expect(reader.seqs(7, { after: 2, before: 200_000 }, 'desc', 10)).toEqual([second, first, last])
  expect(reader.seqs(7, { after: first!, before: 1e9 }, 'asc', 2)).toEqual([second, 200_000])
  expect(reader.seqs(7, { after: 500_000, before: 1e9 }, 'asc', 2)).toEqual([])
})

it('forgets what was not stored', () => {
  const { writer, reader } = openIndex()
  writer.add(1, 5)
  writer.forget()
  writer.add(1, 5)
  writer.add(1, 6)
  writer.store()
  expect(reader.seqs(1, EVERYWHERE, 'asc', 10)).toEqual([5, 6])
})
