import { timestampOf } from '../../../core/shared/brand.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COST_MAX, costInParses, MANY_VALUES } from '../../../../test/cpu-cost.fixture.ts'
import { readResponse, type Reading } from './read-response.ts'

const RULES = { now: timestampOf('2026-02-20T00:00:00.000Z'), domain: 'onchain', futureSkewSecondsMax: 300 }
const ITEM = { type: 'signal.onchain.v1', payload: { symbol: 'BTC', whale_netflow: 1e6 } }

const read = (value: unknown): Reading => readText(JSON.stringify(value))
const readText = (text: string): Reading => readResponse(Buffer.from(text), RULES)

/** Why a lone item is skipped. */
const reasonFor = (item: unknown): string | undefined => {
  const reading = read([item])
  return reading.status === 'read' ? reading.rejected[0]?.reason : reading.status
}

const nested = (depth: number): object => (depth === 0 ? {} : { deeper: nested(depth - 1) })

describe('an answer', () => {
  it('is a list, or a list of items', () => {
    const row = { ...ITEM, ts: null, dedupeKey: null }
    const expected = { status: 'read', rows: [row], rejected: [], summary: null }
    expect(read([ITEM])).toEqual(expected)
    expect(read({ items: [ITEM], next: 'ignored' })).toEqual(expected)
    expect(readText(`\uFEFF${JSON.stringify([ITEM])}`)).toEqual(expected)
  })

  it('says when it was observed and under which name it is stored once', () => {
    expect(read([{ ...ITEM, ts: '2026-02-19 23:00', dedupe_key: 'k1', more: true }])).toMatchObject({
      rows: [{ ts: '2026-02-19T23:00:00.000Z', dedupeKey: 'k1' }],
    })
    expect(read([{ ...ITEM, ts: null, dedupe_key: null }])).toMatchObject({
      rows: [{ ts: null, dedupeKey: null }],
    })
  })

  it.each([[{}], [{ items: 'text' }], ['text'], [null], [7], [{ error: 'try later' }]])(
    'is not usable as %j',
    (value) => {
      expect(read(value)).toMatchObject({ status: 'unusable', reason: expect.stringContaining('items') })
    },
  )

  it.each(['<html></html>', '[', '[1,]', "{'items':[]}", 'NaN', '{"items":[]} x', '['.repeat(90_000)])(
    'is malformed as %.20s',
    (text) => {
      expect(readText(text)).toEqual({ status: 'malformed', reason: 'the response is not JSON' })
    },
  )

  it('is malformed in another encoding, and unusable if empty', () => {
    const latin = readResponse(Buffer.from('["\xe9"]', 'latin1'), RULES)
    expect(latin).toEqual({ status: 'malformed', reason: 'the response is not UTF-8' })
    expect(readText('')).toEqual({ status: 'unusable', reason: 'the response is empty' })
  })

  it('keeps members it does not know and symbols as they are spelt', () => {
    const payload = { symbol: ' btc/usdt', whale_netflow: 1, Ünknown: [1, { deep: null }] }
    expect(read([{ type: 'signal.onchain.v1', payload }])).toMatchObject({ rows: [{ payload }] })
    const free = { type: 'signal.onchain.rain.v2', payload: { mm: 3 } }
    expect(read([free])).toMatchObject({ rows: [free] })
  })
})

describe('an item is skipped', () => {
  it.each([
    ['text', 'must be an object'],
    [null, 'must be an object'],
    [{ payload: {} }, 'type is required'],
    [{ ...ITEM, type: 7 }, 'type must be a string'],
    [{ ...ITEM, type: 'market.bar.v1' }, 'type must be a signal type such as signal.ta.v1'],
    [{ ...ITEM, type: 'signal.Onchain.v1' }, 'type must be a signal type such as signal.ta.v1'],
    [{ ...ITEM, type: 'signal.curator.v1' }, 'type must not be signal.curator.v1, which is for people'],
    [{ type: ITEM.type }, 'payload must be an object'],
    [{ ...ITEM, payload: [] }, 'payload must be an object'],
    [{ ...ITEM, payload: {} }, 'payload.symbol is required'],
    [{ ...ITEM, payload: { symbol: '' } }, 'payload.symbol must have at least 1 character'],
    [{ ...ITEM, payload: { symbol: 'B'.repeat(33) } }, 'payload.symbol must have at most 32 characters'],
    [{ ...ITEM, payload: { symbol: ' / ' } }, 'payload.symbol must name something'],
    [{ ...ITEM, payload: { symbol: 'BTC', whale_netflow: '5' } }, 'payload.whale_netflow must be a number'],
    [
      { type: 'signal.sentiment.v1', payload: { symbol: 'BTC', fear_greed: 101 } },
      /^payload\.fear_greed must be/,
    ],
    [{ ...ITEM, payload: { symbol: 'BTC', text: 'x'.repeat(65_536) } }, /^payload must not be larger/],
    [{ ...ITEM, payload: { symbol: 'BTC', nested: nested(40) } }, /^payload must not be nested deeper/],
    [{ ...ITEM, payload: { symbol: 'BTC', text: '\ud800' } }, 'payload must not contain a lone surrogate'],
    [{ ...ITEM, ts: 'soon' }, /^ts must be a date/],
    [{ ...ITEM, ts: 1_771_545_600 }, 'ts must be a string'],
    [{ ...ITEM, ts: '2026-02-20T00:05:01Z' }, 'ts must not be more than 300 s ahead'],
    [{ ...ITEM, dedupe_key: 'a|b' }, 'dedupe_key must not contain | or control characters'],
    [{ ...ITEM, dedupe_key: 'k'.repeat(201) }, 'dedupe_key must have at most 200 characters'],
  ])('for %.60j', (item, reason) => {
    expect(reasonFor(item)).toMatch(reason)
  })

  it('for a number that no double holds', () => {
    const text = '[{"type":"signal.onchain.v1","payload":{"symbol":"BTC","depth":1e999}}]'
    expect(readText(text)).toMatchObject({ rejected: [{ reason: 'payload must hold finite numbers only' }] })
  })

  it('for a type of another domain, at its place and in the count', () => {
    const other = { type: 'signal.ta.v1', payload: { symbol: 'BTC', rsi_14: 1 } }
    expect(read([0, other, ITEM])).toMatchObject({
      rows: [{}],
      rejected: [{ index: 0 }, { index: 1, reason: 'type is not one of the domain onchain' }],
      summary: expect.stringContaining('2 of 3 items skipped') as string,
    })
  })

  it('without the others', () => {
    const reading = read([ITEM, {}, ITEM, null])
    expect(reading).toMatchObject({
      rows: [{}, {}],
      rejected: [{ index: 1 }, { index: 3, reason: 'must be an object' }],
      summary: '2 of 4 items skipped; item 1: type is required',
    })
  })

  it('behind the first 500, and only the first 20 are told', () => {
    const many = read(Array.from({ length: 510 }, () => ITEM))
    expect(many).toMatchObject({
      rejected: [{ index: 500, reason: 'only 500 items are read' }],
      summary: '10 of 510 items skipped; item 500: only 500 items are read',
    })
    expect(many.status === 'read' && many.rows.length).toBe(500)
    const bad = read(Array.from({ length: 600 }, () => 0))
    expect(bad).toMatchObject({ rows: [], summary: /^600 of 600 items skipped; item 0/ })
    expect(bad.status === 'read' && bad.rejected.map(({ index }) => index)).toEqual(
      Array.from({ length: 20 }, (_, index) => index),
    )
  })

  it('or read, whatever an answer holds', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), fc.constant(ITEM))), (items) => {
        const reading = readText(JSON.stringify(items))
        const ours = items.filter((item) => item === ITEM).length
        expect(reading.status === 'read' && reading.rows.length).toBe(ours)
      }),
    )
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(['malformed', 'unusable', 'read']).toContain(readResponse(bytes, RULES).status)
      }),
    )
  })
})

describe('one megabyte of small elements', () => {
  const reasonIn = (reading: Reading): string | null =>
    reading.status === 'read' ? reading.summary : reading.reason

  const PLACES: Readonly<Record<string, (values: string) => string>> = {
    'the response': (values) => values,
    items: (values) => `{"items":${values}}`,
    'an item': (values) => `[${values}]`,
    'a payload': (values) => `[{"type":"signal.events.v1","payload":${values}}]`,
    'a list in a payload': (values) => `[{"type":"signal.events.v1","payload":{"catalysts":${values}}}]`,
    'a type': (values) => `[{"type":${values},"payload":{}}]`,
  }

  it.each(Object.entries(PLACES))('is refused before its shape is checked, as %s', async (_place, textOf) => {
    for (const values of Object.values(MANY_VALUES)) {
      const text = textOf(values)
      const cost = await costInParses(text, () => {
        expect(reasonIn(readText(text))).toBe('the response has more than 100000 values')
      })
      expect(cost).toBeLessThan(COST_MAX)
    }
  })

  it('is not searched for every fault, spread over items that are small enough', async () => {
    const list = `[${'0,'.repeat(30_000)}0]`
    const item = `{"type":"signal.events.v1","payload":{"symbol":"BTC","catalysts":${list}}}`
    const text = `[${item},${item},${item},${JSON.stringify(ITEM)}]`
    const cost = await costInParses(text, () => {
      const reading = readText(text)
      expect(reading).toMatchObject({ status: 'read', rows: [{ type: ITEM.type }] })
      expect(reasonIn(reading)).toBe('3 of 4 items skipped; item 0: payload.catalysts.0 must be a string')
    })
    expect(cost).toBeLessThan(COST_MAX)
  })
})
