import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../shared/json.ts'
import { canonicalJson } from './canonical-json.ts'
import { refKey, REFS_MAX, refsInText, refsOf, sourceRef, symbolRef, traceRef } from './refs.ts'

const event = { type: 'signal.ta.v1', source: 'p1', traceId: 't1', payload: {} }

describe('what an event is about', () => {
  it('names ids, symbol, trace and the author of a signal', () => {
    expect(
      refsOf({
        ...event,
        payload: { signal_id: 's', signal_ids: ['s', 'x'], symbol: ' btc ', position_id: '' },
      }),
    ).toEqual(['s', 'x', 'symbol:BTC', traceRef('t1'), sourceRef('p1')])
  })

  it('ignores members of another type, and sources of other events', () => {
    expect(
      refsOf({
        type: 'system.audit.v1',
        source: 'api',
        traceId: null,
        payload: { signal_id: 7, symbol: {} },
      }),
    ).toEqual([])
  })

  it('is bounded', () => {
    const signal_ids = Array.from({ length: REFS_MAX + 5 }, (_, index) => `s${index}`)
    expect(refsOf({ ...event, payload: { signal_ids } })).toHaveLength(REFS_MAX)
  })
})

describe('what a text is about', () => {
  const inText = (payload: JsonObject) => refsInText({ ...event, payload: canonicalJson(payload) })
  const member = fc.constantFrom('signal_id', 'order_id', 'symbol', 'asset', 'signal_ids', 'other')
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a', '', ' ', '"symbol":"x"', '\\', '\n'),
  )
  const value = fc.oneof(text, fc.array(text), fc.dictionary(member, text), fc.integer(), fc.constant(null))

  it('leaves nothing out', () => {
    fc.assert(
      fc.property(fc.dictionary(member, value), (payload) => {
        expect(inText(payload)).toEqual(expect.arrayContaining([...refsOf({ ...event, payload })]))
      }),
    )
  })

  it('is the same in plain cases', () => {
    for (const payload of [{}, { signal_id: 's', symbol: 'btc' }, { signal_ids: ['x'], asset: 'ETH' }]) {
      expect(inText(payload)).toEqual(refsOf({ ...event, payload }))
    }
  })
})

describe('the small key of a ref', () => {
  it('is a safe integer for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.uuid()), (ref) => {
        expect(refKey(ref)).toSatisfy(Number.isSafeInteger)
      }),
    )
  })

  it('keeps time-ordered ids in order', () => {
    expect(refKey('019c7874-0f70-7c3e-9a51-2f6f0c1b7a10')).toBeLessThan(
      refKey('019c7874-0f71-7000-9a51-2f6f0c1b7a10'),
    )
  })

  it('spreads other texts', () => {
    const keys = new Set(Array.from({ length: 20_000 }, (_, index) => refKey(symbolRef(`S${index}`))))
    expect(keys.size).toBeGreaterThan(19_990)
  })
})
