import { describe, expect, it } from 'vitest'
import { appendTo, timeAt } from '../../test/records.fixture.ts'
import type { LogRecord } from '../core/log/event.ts'
import { sourceRef, symbolRef, traceRef } from '../core/log/refs.ts'
import type { Logs } from './event-log.fixture.ts'
import type { EventLog, LogQuery } from './event-log.ts'

export const readContract = (logs: Logs): void => {
  describe(`${logs.name}: reading`, () => {
    const seqsOf = async (log: EventLog, query: Partial<LogQuery>): Promise<readonly number[]> =>
      (await log.read({ order: 'asc', limit: 1000, ...query })).map(({ seq }) => seq)

    it('gives a part of the log in either order', async () => {
      const log = await logs.open()
      await appendTo(log, 20)
      expect(await seqsOf(log, { after: 15 })).toEqual([16, 17, 18, 19, 20])
      expect(await seqsOf(log, { before: 4 })).toEqual([1, 2, 3])
      expect(await seqsOf(log, { after: 3, before: 7, order: 'desc' })).toEqual([6, 5, 4])
      expect(await seqsOf(log, { order: 'desc', limit: 2 })).toEqual([20, 19])
      expect(await seqsOf(log, { after: 5, limit: 1 })).toEqual([6])
      expect(await seqsOf(log, { after: 20 })).toEqual([])
      expect(await seqsOf(log, { before: 1 })).toEqual([])
      expect(await seqsOf(log, { after: 5, before: 6 })).toEqual([])
      expect(await seqsOf(log, { limit: 0 })).toEqual([])
    })

    it('gives more than a page if it is asked to', async () => {
      const log = await logs.open()
      await appendTo(log, 2500, (seq) => ({ type: seq % 2 === 0 ? 'signal.even.v1' : 'brain.odd.v1' }))
      const all = Array.from({ length: 2500 }, (_, index) => index + 1)
      expect(await seqsOf(log, { limit: 5000 })).toEqual(all)
      expect(await seqsOf(log, { limit: 5000, order: 'desc', types: ['signal', 'brain'] })).toEqual(
        all.toReversed(),
      )
      expect(await seqsOf(log, { limit: 1200, types: ['signal'] })).toEqual(
        all.filter((seq) => seq % 2 === 0).slice(0, 1200),
      )
    })

    it('finds types by whole segments', async () => {
      const log = await logs.open()
      await appendTo(log, TYPES.length * 2, (seq) => ({ type: TYPES[(seq - 1) % TYPES.length]! }))
      const matching = (...prefixes: readonly string[]): readonly number[] =>
        Array.from({ length: TYPES.length * 2 }, (_, index) => index + 1).filter((seq) =>
          prefixes.some((prefix) => `${TYPES[(seq - 1) % TYPES.length]!}.`.startsWith(`${prefix}.`)),
        )
      for (const types of [
        ['signal'],
        ['signal.ta'],
        ['signal.ta.rsi'],
        ['signal.ta.v1'],
        ['signal.t'],
        ['signal.ta.rs'],
        ['brain', 'alert.kill_switch'],
        ['brain', 'brain.cycle'],
        ['signal.ta.rsi.v1', 'brain'],
        ['unknown'],
        ['signal', 'unknown.type'],
        TYPES,
        [],
      ]) {
        expect(await seqsOf(log, { types }), types.join()).toEqual(matching(...types))
        expect(await seqsOf(log, { types, order: 'desc', limit: 3 }), types.join()).toEqual(
          matching(...types)
            .toReversed()
            .slice(0, 3),
        )
        expect(await seqsOf(log, { types, after: 2, before: 9 }), types.join()).toEqual(
          matching(...types).filter((seq) => seq > 2 && seq < 9),
        )
      }
    })

    it('does not take a prefix for a pattern', async () => {
      const log = await logs.open()
      await appendTo(log, TYPES.length, (seq) => ({ type: TYPES[seq - 1]! }))
      for (const prefix of NO_PREFIXES) {
        expect(await seqsOf(log, { types: [prefix] }), prefix).toEqual([])
        expect(await log.count(prefix), prefix).toBe(0)
        expect(await log.readByTime({ domain: prefix, limit: 10, offset: 0 }), prefix).toEqual([])
      }
    })

    it('finds what is rare among much of the same domain', async () => {
      const log = await logs.open()
      await appendTo(log, 3000, (seq) => ({ type: seq === 7 ? 'signal.ta.rare.v1' : 'signal.ta.often.v1' }))
      expect(await seqsOf(log, { types: ['signal.ta.rare'], order: 'desc', limit: 5 })).toEqual([7])
      expect(await seqsOf(log, { types: ['signal.ta.often'], after: 5, before: 9 })).toEqual([6, 8])
    })

    it('finds what is about a ref', async () => {
      const log = await logs.open()
      await appendTo(log, 12, (seq) => ({
        type: seq % 2 === 0 ? 'signal.ta.v1' : 'execution.order_filled.v1',
        source: seq % 3 === 0 ? 'someone' : 'test',
        traceId: seq === 5 ? 'trace-5' : null,
        payload: {
          symbol: seq % 4 === 0 ? 'btc' : 'ETH',
          order_id: `order-${seq}`,
          signal_ids: ['s-1', `s-${seq}`],
        },
      }))
      expect(await seqsOf(log, { about: symbolRef('BTC') })).toEqual([4, 8, 12])
      expect(await seqsOf(log, { about: symbolRef('BTC'), order: 'desc', limit: 2 })).toEqual([12, 8])
      expect(await seqsOf(log, { about: symbolRef('eth'), after: 5, before: 10 })).toEqual([6, 7, 9])
      expect(await seqsOf(log, { about: 'order-7' })).toEqual([7])
      expect(await seqsOf(log, { about: 's-1' })).toHaveLength(12)
      expect(await seqsOf(log, { about: 's-11', types: ['execution'] })).toEqual([11])
      expect(await seqsOf(log, { about: 's-11', types: ['signal'] })).toEqual([])
      expect(await seqsOf(log, { about: traceRef('trace-5') })).toEqual([5])
      expect(await seqsOf(log, { about: sourceRef('someone') })).toEqual([6, 12])
      expect(
        await seqsOf(log, { about: symbolRef('BTC'), types: ['signal.ta'], order: 'desc', limit: 1 }),
      ).toEqual([12])
      expect(await seqsOf(log, { about: 'unknown' })).toEqual([])
      expect(await seqsOf(log, { about: 'BTC' })).toEqual([])
    })

    it('finds what is about one of many ids that were made in the same moment', async () => {
      const log = await logs.open()
      const idAt = (number: number): string => `019b7000-0000-7000-8000-${String(number).padStart(12, '0')}`
      await appendTo(log, 300, (seq) => ({ payload: { order_id: idAt(seq % 100) } }))
      expect(await seqsOf(log, { about: idAt(42) })).toEqual([42, 142, 242])
      expect(await seqsOf(log, { about: idAt(42), order: 'desc', limit: 1 })).toEqual([242])
      expect(await seqsOf(log, { about: idAt(42), after: 42, before: 242 })).toEqual([142])
      expect(await seqsOf(log, { about: idAt(999) })).toEqual([])
    })

    it('gives signals by their own time', async () => {
      const log = await logs.open()
      const times = [5, 3, 9, 3, 7, 1, 9]
      const types = [
        'signal.ta.v1',
        'signal.whale.v1',
        'brain.cycle.v1',
        'signal.ta.v1',
        'signal.ta.rsi.v1',
        'signal.whale.v1',
        'signal.etf.v1',
      ]
      await appendTo(log, 7, (seq) => ({ ts: timeAt(times[seq - 1]!), type: types[seq - 1]! }))
      const at = async (domain: string | null, limit: number, offset: number): Promise<readonly number[]> =>
        (await log.readByTime({ domain, limit, offset })).map(({ seq }) => seq)
      expect(await at(null, 10, 0)).toEqual([7, 5, 1, 4, 2, 6])
      expect(await at(null, 2, 1)).toEqual([5, 1])
      expect(await at(null, 10, 5)).toEqual([6])
      expect(await at(null, 10, 6)).toEqual([])
      expect(await at('signal.ta', 10, 0)).toEqual([5, 1, 4])
      expect(await at('signal.ta', 1, 1)).toEqual([1])
      expect(await at('signal.ta', 10, 3)).toEqual([])
      expect(await at('signal.ta', 0, 0)).toEqual([])
      expect(await at('signal.none', 10, 0)).toEqual([])
      expect(await at('brain.cycle', 10, 0)).toEqual([])
      expect(await at('signal', 10, 0)).toEqual([])
    })

    it('counts by category and domain', async () => {
      const log = await logs.open()
      expect(await log.count()).toBe(0)
      expect(await log.countByDomain()).toEqual(new Map())
      await appendTo(log, TYPES.length, (seq) => ({ type: TYPES[seq - 1]! }))
      expect(await log.count()).toBe(TYPES.length)
      expect(await log.count('signal')).toBe(5)
      expect(await log.count('signal.ta')).toBe(3)
      expect(await log.count('alert')).toBe(1)
      expect(await log.count('signal.unknown')).toBe(0)
      expect(await log.countByDomain()).toEqual(
        new Map([
          ['signal.ta', 3],
          ['signal.tax', 1],
          ['signal.whale', 1],
          ['brain.cycle', 1],
          ['brain.conviction', 1],
          ['alert.kill_switch', 1],
        ]),
      )
      await expect(log.count('signal.ta.rsi')).rejects.toThrow('no domain')
    })

    it('gets one event by its id', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 3, (seq) => (seq === 2 ? { id: 'not-a-uuid' } : {}))
      expect(await log.get(records[2]!.id)).toEqual(records[2])
      expect(await log.get('not-a-uuid')).toEqual(records[1])
      expect(await log.get('unknown')).toBeNull()
    })

    it('walks a range in order, in pages', async () => {
      const log = await logs.open()
      const records = await appendTo(log, 2300)
      const walk = async (after: number, upTo: number): Promise<readonly LogRecord[]> => {
        const walked: LogRecord[] = []
        for await (const page of log.scan({ after, upTo })) {
          expect(page.length).toBeGreaterThan(0)
          expect(page.length).toBeLessThanOrEqual(1000)
          walked.push(...page)
        }
        return walked
      }
      expect(await walk(0, 2300)).toEqual(records)
      expect(await walk(10, 20)).toEqual(records.slice(10, 20))
      expect(await walk(2290, 9999)).toEqual(records.slice(2290))
      expect(await walk(20, 20)).toEqual([])
    })
  })
}

const TYPES = [
  'signal.ta.v1',
  'signal.ta.rsi.v1',
  'signal.ta.rsi.v2',
  'signal.tax.v1',
  'signal.whale.v1',
  'brain.cycle.v1',
  'brain.conviction.v1',
  'alert.kill_switch',
]

const NO_PREFIXES = [
  '%',
  '_',
  'signal.%',
  'signal._a',
  's*',
  '.*',
  'signal.[a-z]*',
  '',
  '.',
  'signal.',
  'SIGNAL',
  ' signal',
  "' OR 1=1 --",
]
