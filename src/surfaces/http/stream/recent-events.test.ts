import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordsAfter, type Said } from '../../../../test/records.fixture.ts'
import { categoryOf } from '../../../core/log/event.ts'
import { EMPTY_HEAD, type LogRecord } from '../../../core/log/event.ts'
import { filterOf, frameOf } from './frames.ts'
import { RecentEvents, type RecentEventsLimits } from './recent-events.ts'
import { eventsIn } from './stream.fixture.ts'

const LIMITS: RecentEventsLimits = {
  recentEventsMax: 1000,
  recentBytesMax: 1_000_000,
  writeBytesMax: 100_000,
}

const recentOf = (records: readonly LogRecord[], limits: Partial<RecentEventsLimits> = {}): RecentEvents => {
  const recent = new RecentEvents(0, { ...LIMITS, ...limits })
  for (const record of records) recent.push(record)
  return recent
}

const saying =
  (types: readonly string[]) =>
  (seq: number): Said => ({ type: types[seq % types.length] ?? 'signal.test.v1' })

const bytesOf = (records: readonly LogRecord[]): string =>
  records.map((record) => frameOf(record).bytes.toString()).join('')

describe('recent events', () => {
  it('gives what comes behind a place, filtered, in writes of a bounded size', () => {
    const types = fc.array(fc.constantFrom('signal.a.v1', 'alert.b', 'system.c.v1'), {
      minLength: 1,
      maxLength: 5,
    })
    const domain = fc.constantFrom('', 'signal', 'alert,system', 'nothing')
    fc.assert(
      fc.property(
        types,
        domain,
        fc.nat(30),
        fc.integer({ min: 1, max: 1000 }),
        (kinds, names, after, writeBytesMax) => {
          const records = recordsAfter(EMPTY_HEAD, 30, saying(kinds))
          const recent = recentOf(records, { writeBytesMax })
          const filter = filterOf(names)
          const wanted = records.filter(({ seq, type }) => seq > after && filter.wants(categoryOf(type)))
          expect(recent.count(after, filter)).toBe(wanted.length)
          let received = ''
          let events = 0
          for (let cursor = after; cursor < recent.newest;) {
            const chunk = recent.chunkAfter(cursor, filter)
            expect(chunk.upTo).toBeGreaterThan(cursor)
            const longest = Math.max(...records.map((record) => frameOf(record).bytes.length))
            expect(chunk.bytes.length).toBeLessThan(writeBytesMax + longest)
            received += chunk.bytes.toString()
            events += eventsIn(chunk.bytes)
            cursor = chunk.upTo
          }
          expect(received).toBe(bytesOf(wanted))
          expect(events).toBe(wanted.length)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('keeps no more events than it may', () => {
    const recent = recentOf(recordsAfter(EMPTY_HEAD, 10), { recentEventsMax: 4 })
    expect([recent.oldest, recent.newest]).toEqual([7, 10])
    expect(recent.count(0, filterOf())).toBe(4)
  })

  it('keeps no more bytes than it may, even of a single event', () => {
    const records = recordsAfter(EMPTY_HEAD, 10)
    const recentBytesMax = bytesOf(records.slice(7)).length
    const recent = recentOf(records, { recentBytesMax })
    expect([recent.oldest, recent.newest]).toEqual([8, 10])
    const none = recentOf(records, { recentBytesMax: 10 })
    expect([none.oldest, none.newest]).toEqual([11, 10])
  })

  it('gives clients at one place the same bytes, until something new comes', () => {
    const records = recordsAfter(EMPTY_HEAD, 3)
    const recent = recentOf(records.slice(0, 2))
    const first = recent.chunkAfter(0, filterOf())
    expect(recent.chunkAfter(0, filterOf())).toBe(first)
    const signals = recent.chunkAfter(0, filterOf('signal'))
    expect(signals).not.toBe(first)
    // Clients with different filters share chunks, too, even if they alternate.
    expect(recent.chunkAfter(0, filterOf())).toBe(first)
    expect(recent.chunkAfter(0, filterOf('signal'))).toBe(signals)
    expect(eventsIn(recent.chunkAfter(1, filterOf()).bytes)).toBe(1)
    for (const record of records.slice(2)) recent.push(record)
    expect(eventsIn(recent.chunkAfter(0, filterOf()).bytes)).toBe(3)
    const last = recent.chunkAfter(0, filterOf())
    recent.releaseChunks()
    expect(recent.chunkAfter(0, filterOf())).not.toBe(last)
  })

  it('stops loudly where something is left out, or where it does not reach', () => {
    const records = recordsAfter(EMPTY_HEAD, 10)
    const recent = recentOf(records.slice(0, 5), { recentEventsMax: 3 })
    for (const record of [records[4], records[6]]) {
      if (record !== undefined) expect(() => recent.push(record)).toThrow('must not follow 5')
    }
    expect(() => recent.chunkAfter(1, filterOf())).toThrow('must reach back to 1')
    expect(() => recent.chunkAfter(6, filterOf())).toThrow('must reach back to 6')
    expect(eventsIn(recent.chunkAfter(2, filterOf()).bytes)).toBe(3)
    expect(eventsIn(recent.chunkAfter(5, filterOf()).bytes)).toBe(0)
  })
})
