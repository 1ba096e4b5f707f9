import { describe, expect, it } from 'vitest'
import { appendTo, headAfter, recordsAfter, sha256Hex } from '../../test/records.fixture.ts'
import { headOf, type LogRecord } from '../core/log/event.ts'
import { symbolRef } from '../core/log/refs.ts'
import { everything, type Logs } from './event-log.fixture.ts'
import type { EventLog, Snapshot } from './event-log.ts'

/** Finding stored data: by key, after a restart, by another process, and immediately. */
export const keepContract = (logs: Logs): void => {
  describe(`${logs.name}: dedupe keys`, () => {
    it('are found exactly, and others are not', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 50, (seq) => ({
        dedupeKey: seq % 2 === 0 ? `key ${seq} €😀` : null,
      }))
      const found = await log.findByDedupeKeys([
        'key 2 €😀',
        'key 50 €😀',
        'key 2 €😀',
        'key 1 €😀',
        'KEY 2 €😀',
        '',
        'key 2',
      ])
      expect(found).toEqual(
        new Map([
          ['key 2 €😀', records[1]],
          ['key 50 €😀', records[49]],
        ]),
      )
      expect(await log.findByDedupeKeys([])).toEqual(new Map())
    })

    it('are known as soon as they are stored', async () => {
      const log = await logs.open()
      for (let round = 0; round < 20; round += 1) {
        expect(await log.findByDedupeKeys([`round-${round}`])).toEqual(new Map())
        const [record] = await appendTo(log, 1, () => ({ dedupeKey: `round-${round}` }))
        expect(await log.findByDedupeKeys([`round-${round}`])).toEqual(new Map([[`round-${round}`, record]]))
      }
    })

    it.runIf(logs.manyKeys !== null)(
      'are found among many, however old, and after opening again',
      async () => {
        const count = logs.manyKeys ?? 0
        let log = await logs.open()
        const samples = [1, 2, 1000, 30_000, 65_535, 65_536, 65_537, count - 1, count].filter(
          (seq) => seq <= count,
        )
        const keys = [...samples.map((seq) => `k${seq}`), ...samples.map((seq) => `unknown${seq}`)]
        const expected = (): Promise<ReadonlyMap<string, number>> =>
          log.findByDedupeKeys(keys).then((found) => new Map([...found].map(([key, { seq }]) => [key, seq])))
        await appendTo(log, 10, (seq) => ({ dedupeKey: `k${seq}` }))
        expect((await expected()).get('k2')).toBe(2)
        await appendTo(log, count - 10, (seq) => ({ dedupeKey: `k${seq}`, payload: {} }))
        const all = new Map(samples.map((seq) => [`k${seq}`, seq]))
        expect(await expected()).toEqual(all)
        if (!logs.can.reopen) return
        log = await logs.reopen(log)
        expect(await expected()).toEqual(all)
        await appendTo(log, 2000, (seq) => ({ dedupeKey: `k${seq}`, payload: {} }))
        expect(await expected()).toEqual(all)
        expect((await log.findByDedupeKeys([`k${count + 2000}`])).size).toBe(1)
      },
      120_000,
    )
  })

  describe(`${logs.name}: snapshots`, () => {
    const snapshotAt = (record: LogRecord, change: Partial<Snapshot> = {}): Snapshot => ({
      seq: record.seq,
      chainHash: record.hash,
      stateVersion: 'v1',
      stateHash: sha256Hex('state'),
      state: `{"at":${record.seq},"text":"€😀"}`,
      signature: 'a1'.repeat(64),
      signer: 'svc-1',
      ...change,
    })

    it('come back exactly, the newest of their version', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 9)
      expect(await log.loadSnapshot('v1')).toBeNull()
      for (const seq of [2, 8, 5]) await log.saveSnapshot(snapshotAt(records[seq - 1]!))
      await log.saveSnapshot(snapshotAt(records[8]!, { stateVersion: 'v2', state: 'x'.repeat(300_000) }))
      expect(await log.loadSnapshot('v1')).toEqual(snapshotAt(records[7]!))
      expect(await log.loadSnapshot('v2')).toMatchObject({ seq: 9, state: 'x'.repeat(300_000) })
      expect(await log.loadSnapshot('v3')).toBeNull()
      await log.saveSnapshot(snapshotAt(records[7]!, { state: 'again' }))
      expect(await log.loadSnapshot('v1')).toMatchObject({ seq: 8, state: 'again' })
    })

    it('do not count when the chain leads elsewhere', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 9)
      await log.saveSnapshot(snapshotAt(records[4]!))
      await log.saveSnapshot(snapshotAt(records[8]!, { chainHash: 'ab'.repeat(32) }))
      expect(await log.loadSnapshot('v1')).toEqual(snapshotAt(records[4]!))
      await log.saveSnapshot(snapshotAt(records[8]!, { seq: 100, stateVersion: 'v2' }))
      expect(await log.loadSnapshot('v2')).toBeNull()
    })
  })

  describe(`${logs.name}: watching`, () => {
    const reportedOf = (log: EventLog): { readonly next: () => Promise<void>; readonly stop: () => void } => {
      let reported: () => void = () => undefined
      const stop = log.watch(() => reported())
      return { stop, next: () => new Promise((resolve) => (reported = resolve)) }
    }

    it('tells of own appends, until it is stopped', async () => {
      const log = await logs.open()
      const watch = reportedOf(log)
      let others = 0
      const stopOther = log.watch(() => (others += 1))
      for (let round = 0; round < 3; round += 1) {
        const next = watch.next()
        await appendTo(log, 1)
        await next
      }
      stopOther()
      const before = others
      const next = watch.next()
      await appendTo(log, 1)
      await next
      watch.stop()
      expect(before).toBeGreaterThan(0)
      expect(others).toBe(before)
    })

    it.runIf(logs.can.second)('tells of what another process appended', async () => {
      const log = await logs.open()
      const other = await logs.second(log)
      const watch = reportedOf(log)
      for (let round = 1; round <= 3; round += 1) {
        const next = watch.next()
        await appendTo(other, 1)
        await next
        expect((await log.head()).seq).toBe(round)
      }
      watch.stop()
    })
  })

  describe.runIf(logs.can.second)(`${logs.name}: two processes`, () => {
    it('see at once what the other stored', async () => {
      const log = await logs.open()
      const other = await logs.second(log)
      for (let round = 1; round <= 10; round += 1) {
        const [writer, reader] = round % 2 === 0 ? [log, other] : [other, log]
        const type = `signal.domain_${round}.v1`
        const [record] = await appendTo(writer, 1, () => ({
          type,
          dedupeKey: `key-${round}`,
          payload: { symbol: `S${round}` },
        }))
        expect(await reader.head()).toEqual(headOf(record!))
        expect(await reader.get(record!.id)).toEqual(record)
        expect(await reader.findByDedupeKeys([`key-${round}`])).toEqual(new Map([[`key-${round}`, record]]))
        expect(await reader.read({ types: [`signal.domain_${round}`], order: 'asc', limit: 5 })).toEqual([
          record,
        ])
        expect(await reader.read({ about: symbolRef(`S${round}`), order: 'asc', limit: 5 })).toEqual([record])
        expect(await reader.readByTime({ domain: null, limit: 1, offset: 0 })).toEqual([record])
        expect(await reader.count()).toBe(round)
      }
    })

    it('never fork the chain and lose nothing', async () => {
      const log = await logs.open()
      const other = await logs.second(log)
      const write = async (handle: EventLog, writer: string): Promise<number> => {
        let lost = 0
        for (let number = 0; number < 40;) {
          const head = await handle.head()
          const records = recordsAfter(head, 2, () => ({ payload: { writer, number } }))
          const { status } = await handle.append(records, head)
          if (status === 'appended') number += 1
          else lost += 1
        }
        return lost
      }
      await Promise.all([write(log, 'one'), write(other, 'other'), write(log, 'again')])
      const records = await everything(other)
      expect(records).toHaveLength(240)
      expect(await log.verifyHashes({ after: 0, upTo: 240 })).toEqual({ ok: true, checked: 240 })
      for (const writer of ['one', 'other', 'again']) {
        const numbers = records
          .map(({ payload }) => JSON.parse(payload) as { writer: string; number: number })
          .filter((said) => said.writer === writer)
          .map(({ number }) => number)
        expect(numbers).toEqual(Array.from({ length: 80 }, (_, index) => index >> 1))
      }
      expect(await log.count()).toBe(240)
    })
  })

  describe.runIf(logs.can.reopen)(`${logs.name}: opened again`, () => {
    it('remembers everything and goes on', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 30, (seq) => ({
        dedupeKey: `key-${seq}`,
        payload: { symbol: 'BTC' },
      }))
      await log.saveSnapshot({
        seq: 10,
        chainHash: records[9]!.hash,
        stateVersion: 'v1',
        stateHash: 'h',
        state: '{}',
        signature: 'a1'.repeat(64),
        signer: 'svc-1',
      })
      const again = await logs.reopen(log)
      expect(await again.head()).toEqual(headAfter(records))
      expect(await everything(again)).toEqual(records)
      expect(await again.count('signal')).toBe(30)
      expect((await again.findByDedupeKeys(['key-7'])).get('key-7')).toEqual(records[6])
      expect(await again.loadSnapshot('v1')).toMatchObject({ seq: 10 })
      const more = await appendTo(again, 5)
      expect(await again.read({ about: symbolRef('btc'), order: 'desc', limit: 1 })).toEqual([records[29]])
      expect(await again.verifyHashes({ after: 0, upTo: headAfter(more).seq })).toEqual({
        ok: true,
        checked: 35,
      })
    })
  })
}
