import { z } from 'zod'
import { balance, numberIn, optionalNumber, symbol, weightedType } from './declare.ts'

/** Depth near the price, on both sides of the order book. */
export const orderbook = weightedType({
  name: 'orderbook',
  domain: 'technical',
  producer: { name: 'orderbook-depth', schedule: '*/5 * * * *' },
  payload: z.looseObject({
    symbol,
    bid_depth_usd: optionalNumber,
    ask_depth_usd: optionalNumber,
    imbalance: optionalNumber,
    lod_score: optionalNumber,
  }),
  settings: null,
  partsOf: (payload) => ({
    imbalance:
      numberIn(payload, 'imbalance') ??
      balance(numberIn(payload, 'bid_depth_usd'), numberIn(payload, 'ask_depth_usd')),
  }),
})
