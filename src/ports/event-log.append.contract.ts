import { describe, expect, it } from 'vitest'
import { appendTo, headAfter, oddEvent, recordsAfter } from '../../test/records.fixture.ts'
import { EMPTY_HEAD, headOf, type LogRecord } from '../core/log/event.ts'
import { everything, type Logs } from './event-log.fixture.ts'

export const appendContract = (logs: Logs): void => {
  describe(`${logs.name}: the end of the log`, () => {
    it('is nowhere at first, and then the newest event', async () => {
      const log = await logs.open()
      expect(await log.head()).toEqual(EMPTY_HEAD)
      const records = await appendTo(log, 3)
      expect(await log.head()).toEqual(headAfter(records))
    })
  })

  describe(`${logs.name}: an append`, () => {
    it('stores every member exactly as it came', async () => {
      const log = await logs.open()
      const [first, ...rest] = recordsAfter(EMPTY_HEAD, 8, oddEvent)
      const records = [{ ...first!, signature: null, signer: null }, ...rest]
      await log.append(records, EMPTY_HEAD)
      expect(await everything(log)).toEqual(records)
      for (const record of records) expect(await log.get(record.id)).toEqual(record)
    })

    it('tells nothing from an absent member', async () => {
      const log = await logs.open()
      const [record] = await appendTo(log, 1, () => ({ source: null, traceId: null, dedupeKey: null }))
      expect(await log.get(record!.id)).toMatchObject({ source: null, traceId: null, dedupeKey: null })
    })

    it('takes large payloads and many records', async () => {
      const log = await logs.open()
      const text = 'größer €😀 '.repeat(6000)
      const records = await appendTo(log, 40, (seq) => ({ payload: { text, seq } }))
      expect(records[0]!.payload.length).toBeGreaterThan(64 * 1024)
      expect(await everything(log)).toEqual(records)
    })

    it('stores nothing behind another head', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 3)
      const behind = recordsAfter(headAfter(records), 2)
      const elsewhere = recordsAfter(headOf(records[1]!), 2)
      expect(await log.append(elsewhere, headOf(records[1]!))).toEqual({ status: 'head-moved' })
      const forged = { ...headAfter(records), hash: 'ab'.repeat(32) }
      expect(await log.append(recordsAfter(forged, 1), forged)).toEqual({ status: 'head-moved' })
      const ahead = recordsAfter(headAfter(behind), 1)
      expect(await log.append(ahead, headAfter(behind))).toEqual({ status: 'head-moved' })
      expect(await everything(log)).toEqual(records)
      expect(await log.append(behind, headAfter(records))).toEqual({ status: 'appended' })
    })

    it('of nothing changes nothing', async () => {
      const log = await logs.open()
      expect(await log.append([], EMPTY_HEAD)).toEqual({ status: 'appended' })
      const records = await appendTo(log, 1)
      expect(await log.append([], headAfter(records))).toEqual({ status: 'appended' })
      expect(await log.append([], EMPTY_HEAD)).toEqual({ status: 'head-moved' })
      expect(await everything(log)).toEqual(records)
    })

    it.each([
      ['a gap', (record: LogRecord) => ({ ...record, seq: record.seq + 1 })],
      ['another previous hash', (record: LogRecord) => ({ ...record, prevHash: 'ab'.repeat(32) })],
    ])('throws for records with %s, first or later', async (_, break_) => {
      const log = await logs.open()
      const [first, second, third] = recordsAfter(EMPTY_HEAD, 3)
      await expect(log.append([break_(first!)], EMPTY_HEAD)).rejects.toThrow('does not link')
      await expect(log.append([first!, second!, break_(third!)], EMPTY_HEAD)).rejects.toThrow('does not link')
      expect(await log.head()).toEqual(EMPTY_HEAD)
    })

    it('stores all or nothing: a record that is refused takes the others with it', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 2)
      const id = records[0]!.id
      const batch = recordsAfter(headAfter(records), 70, (seq) =>
        seq === 70 ? { id } : { dedupeKey: `key-${seq}` },
      )
      await expect(log.append(batch, headAfter(records))).rejects.toThrow(Error)
      const twice = recordsAfter(headAfter(records), 2, () => ({ id: 'twice' }))
      await expect(log.append(twice, headAfter(records))).rejects.toThrow(Error)
      expect(await everything(log)).toEqual(records)
      expect(await log.count()).toBe(2)
      expect(await log.findByDedupeKeys(['key-5'])).toEqual(new Map())
      await appendTo(log, 5)
      expect(await log.verifyHashes({ after: 0, upTo: 7 })).toEqual({ ok: true, checked: 7 })
    })

    it('may be called again before it is done, and is taken in order', async () => {
      const log = await logs.open()
      const records = recordsAfter(EMPTY_HEAD, 30)
      const results = await Promise.all(
        records.map((record, index) => log.append([record], headAfter(records.slice(0, index)))),
      )
      expect(results.every(({ status }) => status === 'appended')).toBe(true)
      expect(await everything(log)).toEqual(records)
    })

    it('behind one that failed finds the head elsewhere', async () => {
      const log = await logs.open()
      const [taken] = await appendTo(log, 1)
      const first = recordsAfter(headOf(taken!), 2, () => ({ id: taken!.id }))
      const second = recordsAfter(headAfter(first), 2)
      const results = await Promise.allSettled([
        log.append(first, headOf(taken!)),
        log.append(second, headAfter(first)),
      ])
      expect(results).toMatchObject([
        { status: 'rejected' },
        { status: 'fulfilled', value: { status: 'head-moved' } },
      ])
      expect(await everything(log)).toEqual([taken])
    })
  })
}
