import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EventItem } from '../api/types.ts'
import { newestFirst, staleBy } from './live.ts'

const event = (seq: number): EventItem => ({
  id: `event ${seq}`,
  seq,
  ts: '2026-01-01T00:00:00.000Z',
  type: 'signal.curator.v1',
  source: 'ann',
  payload: {},
})

describe('newestFirst', () => {
  it('orders a refetched page that is ahead of the stream', () => {
    const streamed = [event(2), event(1)]
    const page = [event(3), event(2), event(1)]
    expect(newestFirst([...streamed, ...page], 10)).toEqual([event(3), event(2), event(1)])
  })

  it('gives the same list for every order of arrival, with each event once', () => {
    const arrivals = fc.array(fc.array(fc.integer({ min: 1, max: 40 })))
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 20 }), (batches, limit) => {
        let merged: readonly EventItem[] = []
        for (const seqs of batches) merged = newestFirst([...merged, ...seqs.map(event)], limit)
        const seqs = [...new Set(batches.flat())].toSorted((one, other) => other - one)
        expect(merged).toEqual(seqs.slice(0, limit).map(event))
      }),
    )
  })
})

describe('staleBy', () => {
  it('uses the longest prefix that is listed', () => {
    expect(staleBy('system.kill_switch.v1')).toEqual(['brain-status', 'kill-switch', 'live'])
    expect(staleBy('system.audit.v1')).toEqual([])
    expect(staleBy('karma.some.thing.v9')).toEqual(['karma', 'scores'])
    expect(staleBy('signal.curator.v1')).toEqual([])
    expect(staleBy('brain.cycle.v1')).toContain('brain-status')
  })

  it('matches whole segments only', () => {
    expect(staleBy('signals.v1')).toEqual([])
    expect(staleBy('')).toEqual([])
  })
})
