import { z } from 'zod'
import { above, numberIn, optionalCount, optionalNumber, scale, settingsOf, weightedType } from './declare.ts'

/** Supply of stablecoins: new supply is money that can buy. */
export const stablecoin = weightedType({
  name: 'stablecoin',
  domain: 'onchain',
  producer: { name: 'stablecoin-supply', schedule: '0 * * * *' },
  payload: z.looseObject({
    stablecoin: z.string().min(1).max(32),
    supply_change_24h: optionalNumber,
    supply_change_7d: optionalNumber,
    mint_burn_events: optionalCount,
  }),
  settings: settingsOf('stablecoin', {
    supply_24h_scale: scale(1, 'supply change over 24 h in % for full evidence'),
    supply_7d_scale: scale(3, 'supply change over 7 days in % for full evidence'),
  }),
  partsOf: (payload, settings) => ({
    day: above(numberIn(payload, 'supply_change_24h'), 0, settings.supply_24h_scale),
    week: above(numberIn(payload, 'supply_change_7d'), 0, settings.supply_7d_scale),
  }),
})
