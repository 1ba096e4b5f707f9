import { z } from 'zod'
import { optionalNumber, symbol, unweightedType } from './declare.ts'

/** A price reported by a producer. It sets the mark where `market.trusted_price_sources` allows it. */
export const priceWs = unweightedType({
  name: 'price_ws',
  producer: null,
  payload: z.looseObject({
    symbol,
    price: z.number().gt(0),
    bid: optionalNumber,
    ask: optionalNumber,
    venue: z.string().optional(),
  }),
})
