import { z } from 'zod'
import {
  above,
  below,
  flowIn,
  numberIn,
  optionalNumber,
  scale,
  settingsOf,
  symbol,
  volumeShare,
  weightedType,
} from './declare.ts'

/** Flows on chain. */
export const onchain = weightedType({
  name: 'onchain',
  domain: 'onchain',
  producer: { name: 'onchain-flows', schedule: '*/15 * * * *' },
  payload: z.looseObject({
    symbol,
    whale_netflow: optionalNumber,
    exchange_flow: optionalNumber,
    active_addresses_change: optionalNumber,
    price_momentum_24h: optionalNumber,
  }),
  settings: settingsOf('onchain', {
    whale_volume_share: volumeShare(0.02, 'whale netflow over 24 h volume for full evidence'),
    exchange_volume_share: volumeShare(0.01, 'exchange outflow over 24 h volume for full evidence'),
    momentum_scale: scale(10, '24 h price change in % for full evidence'),
    active_addresses_scale: scale(20, 'change of active addresses in % for full evidence'),
  }),
  partsOf: (payload, settings, market) => ({
    whales: flowIn(payload, 'whale_netflow', settings.whale_volume_share, market),
    // Coins that leave an exchange are not about to be sold.
    exchanges: below(flowIn(payload, 'exchange_flow', settings.exchange_volume_share, market), 0, 1),
    momentum: above(numberIn(payload, 'price_momentum_24h'), 0, settings.momentum_scale),
    addresses: above(numberIn(payload, 'active_addresses_change'), 0, settings.active_addresses_scale),
  }),
})
