import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timestampAt } from '../shared/time.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { compacted, expanded, type Referred } from './compact.ts'

const eventWith = (payload: JsonObject, changes: Partial<Referred> = {}): Referred => ({
  id: '019b7000-0000-7000-8000-00000000ffff',
  type: 'signal.curator.v1',
  ts: timestampAt(Date.UTC(2026, 1, 20)),
  source: 'operator:telegram',
  traceId: null,
  dedupeKey: null,
  payload,
  ...changes,
})

/** Stored and read again, as commands are. */
const stored = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json
const again = (value: unknown, events: readonly Referred[]): unknown =>
  expanded(stored(compacted(value, events)), events)

describe('a compacted command', () => {
  it('refers to payloads, members and fields of its events', () => {
    const payload = { symbol: 'BTC', direction: 'bullish', rationale: 'higher lows, and volume with them' }
    const events = [
      eventWith(payload),
      eventWith({ signature: 'ab'.repeat(64), producer_id: 'ann', score: 7 }),
    ]
    const command = {
      kind: 'submit-signal',
      submission: {
        eventType: 'signal.curator.v1',
        source: 'operator:telegram',
        ts: null,
        payload: { ...payload, conviction: 7 },
        signature: 'ab'.repeat(64),
      },
    }
    const json = compacted(command, events)
    expect(json).toEqual({
      kind: 'submit-signal',
      submission: {
        eventType: '@0:type',
        source: '@0:source',
        ts: null,
        payload: { '@': 0, conviction: 7 },
        signature: '@1.signature',
      },
    })
    expect(again(command, events)).toEqual(command)
  })

  it('names the members of a payload that it lacks', () => {
    const bars = [1, 2].map((close) => ({
      close,
      symbol: 'BTC',
      open_ts: '2026-02-20T00:00:00.000Z',
      volume: 5,
    }))
    const events = bars.map((bar) => eventWith({ ...bar, feed: 'sim' }))
    expect(compacted({ bars }, events)).toEqual({
      bars: [
        { '@': 0, '@-': ['feed'] },
        { '@': 1, '@-': ['feed'] },
      ],
    })
    expect(again({ bars }, events)).toEqual({ bars })
  })

  it('keeps values that JSON lacks, and texts and names that look like references', () => {
    const values = {
      amount: 12_345_678_901_234_567_890n,
      none: [undefined, Number.NaN, -0, Infinity, -Infinity],
      '@': '@0.symbol',
      '@-': ['@@', '@n1', '@'],
      '@@': { '@': 0 },
      ['__proto__']: { polluted: true },
    }
    expect(again(values, [eventWith({ symbol: 'a symbol with a long name' })])).toEqual(values)
    expect(Object.is((again([-0], []) as number[])[0], -0)).toBe(true)
  })

  it('is plain data', () => {
    for (const value of [new Map(), new Set(), new Date(0)])
      expect(() => compacted({ value }, [eventWith({ value: {} })])).toThrow('plain data')
    for (const value of [() => 1, Symbol('s')])
      expect(() => compacted({ value }, [])).toThrow(`cannot hold a ${typeof value}`)
  })

  it('is refused if it refers to what is not there', () => {
    for (const [json, reason] of [
      ['@5.symbol', 'event 5 of 1'],
      [{ '@': 9 }, 'event 9 of 1'],
      ['@0.missing', 'refers to no text'],
      ['@0:payload', 'refers to no text'],
      ['@0.constructor', 'refers to no text'],
      ['@x', 'is no reference'],
    ] as const)
      expect(() => expanded(json, [eventWith({ symbol: 'BTC' })])).toThrow(reason)
  })
})

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('@', '@0', '@0.symbol', '@n5', '@-', 'a text that is long enough to be referred to', 'BTC'),
)
const name = fc.oneof(fc.constantFrom('@', '@-', 'symbol', 'reason', '0', 'constructor'), text)
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('value'), { maxKeys: 6 }),
}))
const payloads = fc.array(json.object as fc.Arbitrary<JsonObject>, { maxLength: 12 })

describe('expanded', () => {
  it('is the inverse of compacted, for every command and all its events', () => {
    fc.assert(
      fc.property(payloads, json.value, fc.bigInt(), (given, own, amount) => {
        const events = given.map((payload) =>
          eventWith(stored(payload) as JsonObject, { dedupeKey: 'a'.repeat(20) }),
        )
        // Parts of a command are often parts of its events, as they are or with a change.
        const command = {
          kind: 'test',
          amount,
          own,
          all: given,
          changed: given.map((payload) => ({ ...payload, added: amount })),
          less: given.map((payload) => Object.fromEntries(Object.entries(payload).slice(1))),
          texts: given.flatMap((payload) => Object.values(payload)),
        }
        expect(again(command, events)).toEqual(command)
      }),
    )
  })
})
