import { z } from 'zod'
import {
  above,
  flowIn,
  numberIn,
  optionalNumber,
  scale,
  settingsOf,
  symbol,
  volumeShare,
  weightedType,
} from './declare.ts'

/** Activity of large holders. */
export const whale = weightedType({
  name: 'whale',
  domain: 'onchain',
  producer: { name: 'whale-tracking', schedule: '*/15 * * * *' },
  payload: z.looseObject({
    symbol,
    smart_money_netflow: optionalNumber,
    top_holders_change: optionalNumber,
  }),
  settings: settingsOf('whale', {
    netflow_volume_share: volumeShare(0.02, 'smart-money netflow over 24 h volume for full evidence'),
    top_holders_scale: scale(5, 'change of top holders in % for full evidence'),
  }),
  partsOf: (payload, settings, market) => ({
    smartMoney: flowIn(payload, 'smart_money_netflow', settings.netflow_volume_share, market),
    topHolders: above(numberIn(payload, 'top_holders_change'), 0, settings.top_holders_scale),
  }),
})
