import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../shared/json.ts'
import { SIGNAL_TYPES } from '../signal-types/all.ts'
import { orderbook } from '../signal-types/orderbook.ts'
import { isPlainPayload } from './plain-payload.ts'
import { sentiment } from '../signal-types/sentiment.ts'
import { ta } from '../signal-types/ta.ts'

const members = [...new Set(SIGNAL_TYPES.flatMap(({ payload }) => Object.keys(payload.shape))), 'other']

const value = fc.oneof(
  fc.constantFrom('BTC', '', 'bullish', null, true, Number.NaN, Infinity, -1, 50, 101, 'x'.repeat(33)),
  fc.double(),
)

it('calls plain only what the schema takes', () => {
  const payload = fc.dictionary(fc.constantFrom(...members), value)
  fc.assert(
    fc.property(fc.constantFrom(...SIGNAL_TYPES), payload, ({ payload: schema }, given) => {
      const said = given as JsonObject
      expect(isPlainPayload(schema, said) && !schema.safeParse(said).success).toBe(false)
    }),
    { seed: 5, numRuns: 2000 },
  )
})

it.each([
  [orderbook, { symbol: 'BTC', bid_depth_usd: 1, ask_depth_usd: 2, imbalance: -0.3, more: [1] }, true],
  [orderbook, { imbalance: 0.5 }, false],
  [orderbook, { symbol: '', imbalance: 0.5 }, false],
  [orderbook, { symbol: 'BTC', imbalance: 'much' }, false],
  [orderbook, { symbol: 'BTC', imbalance: Number.NaN }, false],
  [sentiment, { symbol: 'BTC', fear_greed: 100 }, true],
  [sentiment, { symbol: 'BTC', fear_greed: 101 }, false],
  [ta, { symbol: 'BTC', trend: 'bullish', rsi_14: 50 }, true],
  [ta, { symbol: 'BTC', trend: 'up' }, false],
] as const)('%#: looks at each member', ({ payload: schema }, payload, isPlain) => {
  expect(isPlainPayload(schema, payload)).toBe(isPlain)
})

it('asks a schema that looks at more than its members', () => {
  const strict = z.strictObject({ one: z.number() })
  const refined = z.looseObject({ one: z.number() }).refine(({ one }) => one > 1)
  expect(isPlainPayload(strict, { one: 2 })).toBe(false)
  expect(isPlainPayload(refined, { one: 2 })).toBe(false)
})
