import { z } from 'zod'
import { unweightedType } from './declare.ts'

/** An unusually large price move, for people and notifiers. */
export const priceAlert = unweightedType({
  name: 'price_alert',
  producer: { name: 'price-alerts', schedule: '* * * * *', domain: 'technical' },
  payload: z.looseObject({}),
})
