import { z } from 'zod'
import { unweightedType } from './declare.ts'

/** A price that moved unusually far: for people and notifiers. */
export const priceAlert = unweightedType({
  name: 'price_alert',
  producer: { name: 'price-alerts', schedule: '* * * * *', domain: 'technical' },
  payload: z.looseObject({}),
})
