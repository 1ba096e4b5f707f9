import { above, below, flowIn, numberIn, type Reader } from './reader.ts'

export interface OnchainRules {
  readonly onchain: {
    readonly whale_volume_share: number
    readonly exchange_volume_share: number
    readonly momentum_scale: number
    readonly active_addresses_scale: number
  }
  readonly whale: { readonly netflow_volume_share: number; readonly top_holders_scale: number }
  readonly stablecoin: { readonly supply_24h_scale: number; readonly supply_7d_scale: number }
}

export const chainFlows: Reader<OnchainRules> = {
  domain: 'onchain',
  partsOf: (payload, { onchain }, market) => ({
    whales: flowIn(payload, 'whale_netflow', onchain.whale_volume_share, market),
    // Coins that leave an exchange are not about to be sold.
    exchanges: below(flowIn(payload, 'exchange_flow', onchain.exchange_volume_share, market), 0, 1),
    momentum: above(numberIn(payload, 'price_momentum_24h'), 0, onchain.momentum_scale),
    addresses: above(numberIn(payload, 'active_addresses_change'), 0, onchain.active_addresses_scale),
  }),
}

export const whales: Reader<OnchainRules> = {
  domain: 'onchain',
  partsOf: (payload, { whale }, market) => ({
    smartMoney: flowIn(payload, 'smart_money_netflow', whale.netflow_volume_share, market),
    topHolders: above(numberIn(payload, 'top_holders_change'), 0, whale.top_holders_scale),
  }),
}

export const stablecoins: Reader<OnchainRules> = {
  domain: 'onchain',
  partsOf: (payload, { stablecoin }) => ({
    day: above(numberIn(payload, 'supply_change_24h'), 0, stablecoin.supply_24h_scale),
    week: above(numberIn(payload, 'supply_change_7d'), 0, stablecoin.supply_7d_scale),
  }),
}
