import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordsAfter, type Said } from '../../../../test/records.ts'
import { categoryOf, EMPTY_HEAD, type LogRecord } from '../../../core/log/event.ts'
import { filterOf } from './filter.ts'
import { frameOf } from './frames.ts'
import { STREAM_LIMITS, type StreamLimits } from './limits.ts'
import { FrameRing } from './ring.ts'

const ringOf = (records: readonly LogRecord[], limits: Partial<StreamLimits> = {}): FrameRing => {
  const ring = new FrameRing(0, { ...STREAM_LIMITS, ...limits })
  for (const record of records) ring.push(record)
  return ring
}

const saying =
  (types: readonly string[]) =>
  (seq: number): Said => ({ type: types[seq % types.length] ?? 'signal.test.v1' })

const bytesOf = (records: readonly LogRecord[]): string =>
  records.map((record) => frameOf(record).bytes.toString()).join('')

describe('the ring', () => {
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
          const ring = ringOf(records, { writeBytesMax })
          const filter = filterOf(names)
          const wanted = records.filter(({ seq, type }) => seq > after && filter.wants(categoryOf(type)))
          expect(ring.count(after, filter)).toBe(wanted.length)
          let heard = ''
          let events = 0
          for (let cursor = after; cursor < ring.newest;) {
            const chunk = ring.chunkAfter(cursor, filter)
            expect(chunk.upTo).toBeGreaterThan(cursor)
            const longest = Math.max(...records.map((record) => frameOf(record).bytes.length))
            expect(chunk.bytes.length).toBeLessThan(writeBytesMax + longest)
            heard += chunk.bytes.toString()
            events += chunk.events
            cursor = chunk.upTo
          }
          expect(heard).toBe(bytesOf(wanted))
          expect(events).toBe(wanted.length)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('keeps no more events than it may', () => {
    const ring = ringOf(recordsAfter(EMPTY_HEAD, 10), { ringEventsMax: 4 })
    expect([ring.oldest, ring.newest]).toEqual([7, 10])
    expect(ring.count(0, filterOf())).toBe(4)
  })

  it('keeps no more bytes than it may, even of a single event', () => {
    const records = recordsAfter(EMPTY_HEAD, 10)
    const ringBytesMax = bytesOf(records.slice(7)).length
    const ring = ringOf(records, { ringBytesMax })
    expect([ring.oldest, ring.newest]).toEqual([8, 10])
    const none = ringOf(records, { ringBytesMax: 10 })
    expect([none.oldest, none.newest]).toEqual([11, 10])
  })

  it('gives clients at one place the same bytes, until something new comes', () => {
    const records = recordsAfter(EMPTY_HEAD, 3)
    const ring = ringOf(records.slice(0, 2))
    const first = ring.chunkAfter(0, filterOf())
    expect(ring.chunkAfter(0, filterOf())).toBe(first)
    const signals = ring.chunkAfter(0, filterOf('signal'))
    expect(signals).not.toBe(first)
    // Also to those who want different things in turn.
    expect(ring.chunkAfter(0, filterOf())).toBe(first)
    expect(ring.chunkAfter(0, filterOf('signal'))).toBe(signals)
    expect(ring.chunkAfter(1, filterOf()).events).toBe(1)
    for (const record of records.slice(2)) ring.push(record)
    expect(ring.chunkAfter(0, filterOf()).events).toBe(3)
    const last = ring.chunkAfter(0, filterOf())
    ring.forgetShared()
    expect(ring.chunkAfter(0, filterOf())).not.toBe(last)
  })

  it('stops loudly where something is left out, or where it does not reach', () => {
    const records = recordsAfter(EMPTY_HEAD, 10)
    const ring = ringOf(records.slice(0, 5), { ringEventsMax: 3 })
    for (const record of [records[4], records[6]]) {
      if (record !== undefined) expect(() => ring.push(record)).toThrow('must not follow 5')
    }
    expect(() => ring.chunkAfter(1, filterOf())).toThrow('must reach back to 1')
    expect(() => ring.chunkAfter(6, filterOf())).toThrow('must reach back to 6')
    expect(ring.chunkAfter(2, filterOf()).events).toBe(3)
    expect(ring.chunkAfter(5, filterOf()).events).toBe(0)
  })
})
