import { describe, expect, it } from 'vitest'
import { appendTo, oddEvent, recordsAfter, rehashed, timeAt, type Said } from '../../test/records.fixture.ts'
import { EMPTY_HEAD, type LogRecord } from '../core/log/event.ts'
import type { Logs } from './event-log.fixture.ts'
import type { ChainFaultKind } from './event-log.ts'

export const verifyContract = (logs: Logs): void => {
  describe(`${logs.name}: verification`, () => {
    it('passes a sound log, whole or in part', async () => {
      const log = await logs.open()
      await appendTo(log, 2600, oddEvent)
      for (const [after, upTo] of [
        [0, 2600],
        [0, 1],
        [0, 0],
        [1, 2],
        [2590, 2600],
        [100, 1100],
        [300, 2600],
      ] as const) {
        expect(await log.verifyHashes({ after, upTo })).toEqual({ ok: true, checked: upTo - after })
      }
      const checked: number[] = []
      await log.verifyHashes({ after: 0, upTo: 2600, onProgress: (count) => checked.push(count) })
      expect(checked.at(-1)).toBe(2600)
      expect(checked).toEqual(checked.toSorted((one, other) => one - other))
    })

    it('passes an empty log, and misses what should be there', async () => {
      const log = await logs.open()
      expect(await log.verifyHashes({ after: 0, upTo: 0 })).toEqual({ ok: true, checked: 0 })
      const missing = { ok: false, id: null, kind: 'sequence' }
      expect(await log.verifyHashes({ after: 0, upTo: 1 })).toMatchObject({ ...missing, checked: 0, seq: 1 })
      await appendTo(log, 5)
      expect(await log.verifyHashes({ after: 2, upTo: 7 })).toMatchObject({ ...missing, checked: 3, seq: 6 })
      expect(await log.verifyHashes({ after: 6, upTo: 7 })).toMatchObject({ ...missing, seq: 6 })
    })

    it('finds content that does not give its hash', async () => {
      const log = await logs.open()
      const [first, second, third] = recordsAfter(EMPTY_HEAD, 3)
      await log.append([first!, { ...second!, payload: '{"number":3}' }, third!], EMPTY_HEAD)
      expect(await log.verifyHashes({ after: 0, upTo: 3 })).toMatchObject({
        ok: false,
        checked: 1,
        seq: 2,
        id: second!.id,
        kind: 'hash',
      })
      expect(await log.verifyHashes({ after: 2, upTo: 3 })).toEqual({ ok: true, checked: 1 })
    })

    it('finds fields that could be read in two ways although the hash fits', async () => {
      const log = await logs.open()
      for (const [what, said] of AMBIGUOUS) {
        const head = await log.head()
        const [first, second, third] = recordsAfter(head, 3)
        const odd = rehashed({ ...second!, ...said, payload: second!.payload })
        await log.append([first!, odd, rehashed({ ...third!, prevHash: odd.hash })], head)
        expect(await log.verifyHashes({ after: head.seq, upTo: head.seq + 3 }), what).toMatchObject({
          ok: false,
          checked: 1,
          seq: odd.seq,
          kind: 'field',
        })
      }
    })

    it('finds an event that was recorded before the one it follows', async () => {
      const log = await logs.open()
      const records = recordsAfter(EMPTY_HEAD, 5)
      const odd = records.map((record) => (record.seq === 4 ? { ...record, recordedAt: timeAt(1) } : record))
      await log.append(odd, EMPTY_HEAD)
      expect(await log.verifyHashes({ after: 0, upTo: 5 })).toMatchObject({
        ok: false,
        checked: 3,
        seq: 4,
        kind: 'order',
      })
      expect(await log.verifyHashes({ after: 3, upTo: 4 })).toMatchObject({ seq: 4, kind: 'order' })
    })

    it.runIf(logs.can.tamper)(
      'finds every column that was changed, and nothing when it is undone',
      async () => {
        const log = await logs.open()
        const records = await appendTo(log, 300)
        for (const [what, seq, columns, kind] of CHANGES) {
          const record = records[seq - 1]!
          await logs.tamper(log, { kind: 'change', seq, columns })
          expect(await log.verifyHashes({ after: 0, upTo: 300 }), what).toMatchObject({
            ok: false,
            checked: seq - 1,
            seq,
            id: columns.id ?? record.id,
            kind,
          })
          const before = Object.keys(columns).map((name) => [name, record[name as keyof LogRecord]])
          await logs.tamper(log, {
            kind: 'change',
            seq,
            columns: Object.fromEntries(before) as typeof columns,
          })
        }
        expect(await log.verifyHashes({ after: 0, upTo: 300 })).toEqual({ ok: true, checked: 300 })
      },
    )

    it.runIf(logs.can.tamper)('finds bytes that moved from one hash into the next', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 300)
      const [{ prevHash, hash }, next] = [records[199]!, records[200]!]
      const change = (seq: number, columns: Partial<LogRecord>) =>
        logs.tamper(log, { kind: 'change', seq, columns })
      await change(200, { prevHash: prevHash.slice(0, -2), hash: prevHash.slice(-2) + hash })
      expect(await log.verifyHashes({ after: 0, upTo: 300 })).toMatchObject({ ok: false, seq: 200 })
      await change(200, { prevHash, hash: hash + next.prevHash.slice(0, 2) })
      await change(201, { prevHash: next.prevHash.slice(2) })
      expect(await log.verifyHashes({ after: 0, upTo: 300 })).toMatchObject({ ok: false, seq: 200 })
      await change(200, { hash })
      await change(201, { prevHash: next.prevHash })
      expect(await log.verifyHashes({ after: 0, upTo: 300 })).toEqual({ ok: true, checked: 300 })
    })

    it.runIf(logs.can.tamper)('finds events that are gone or numbered anew', async () => {
      const log = await logs.open()
      await appendTo(log, 300)
      const missing = (seq: number) => ({ ok: false, checked: seq - 1, seq, id: null, kind: 'sequence' })
      await logs.tamper(log, { kind: 'renumber', seq: 300, to: 9999 })
      expect(await log.verifyHashes({ after: 0, upTo: 300 })).toMatchObject(missing(300))
      expect(await log.verifyHashes({ after: 0, upTo: 9999 })).toMatchObject(missing(300))
      for (const seq of [250, 140, 1]) {
        await logs.tamper(log, { kind: 'delete', seq })
        expect(await log.verifyHashes({ after: 0, upTo: 299 })).toMatchObject(missing(seq))
      }
    })

    it.runIf(logs.can.tamper)('finds the first of several faults in a long range', async () => {
      const log = await logs.open()
      await appendTo(log, 2600)
      for (const seq of [2500, 700, 1900]) {
        await logs.tamper(log, { kind: 'change', seq, columns: { payload: '{}' } })
      }
      expect(await log.verifyHashes({ after: 0, upTo: 2600 })).toMatchObject({
        ok: false,
        checked: 699,
        seq: 700,
      })
      expect(await log.verifyHashes({ after: 700, upTo: 2600 })).toMatchObject({ ok: false, seq: 1900 })
      await logs.tamper(log, { kind: 'delete', seq: 600 })
      expect(await log.verifyHashes({ after: 0, upTo: 2600 })).toMatchObject({
        ok: false,
        seq: 600,
        kind: 'sequence',
      })
    })

    it.runIf(logs.can.tamper)('finds a control character although the hash fits', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 300)
      for (const seq of [300, 200]) {
        const { dedupeKey, hash } = rehashed({ ...records[seq - 1]!, dedupeKey: 'bell\u0007' })
        await logs.tamper(log, { kind: 'change', seq, columns: { dedupeKey, hash } })
        expect(await log.verifyHashes({ after: 0, upTo: seq })).toMatchObject({
          ok: false,
          seq,
          kind: 'field',
        })
      }
    })
  })
}

const AMBIGUOUS: readonly (readonly [string, Said])[] = [
  ['a bar that moves a border', { traceId: 'b', dedupeKey: '|' }],
  ['a bar before what looks like a payload', { dedupeKey: 'x|{' }],
  ['a bar behind letters of several bytes', { source: 'größe€', dedupeKey: 'ä|{"a":"€😀€€€€"}' }],
  ['a bar in the type', { type: 'signal.a|b' }],
  ['an empty source', { source: '' }],
  ['an empty trace', { traceId: '' }],
  ['an empty key', { dedupeKey: '' }],
]

const CHANGES: readonly (readonly [string, number, Partial<Omit<LogRecord, 'seq'>>, ChainFaultKind])[] = [
  ['a changed payload', 140, { payload: '{"number":9999}' }, 'hash'],
  ['a changed type', 140, { type: 'signal.other.v1' }, 'hash'],
  ['a changed time', 140, { ts: timeAt(77) }, 'hash'],
  ['a changed id', 140, { id: 'another' }, 'hash'],
  ['a changed schema version', 140, { schemaVersion: 'v2' }, 'hash'],
  ['a source that was taken away', 140, { source: null }, 'hash'],
  ['a key that was given', 140, { dedupeKey: 'given' }, 'hash'],
  ['an absent trace made empty', 140, { traceId: '' }, 'field'],
  ['a changed hash', 140, { hash: 'ab'.repeat(32) }, 'hash'],
  ['a changed link', 140, { prevHash: 'ab'.repeat(32) }, 'link'],
  ['a changed link of the first event', 1, { prevHash: 'ab'.repeat(32) }, 'link'],
  ['a changed payload of the first event', 1, { payload: '{}' }, 'hash'],
  ['a changed hash of the last event', 300, { hash: 'ab'.repeat(32) }, 'hash'],
  ['a time of recording moved back', 140, { recordedAt: timeAt(1) }, 'order'],
  ['two columns at once', 140, { source: 'x', traceId: 'y' }, 'hash'],
]
