import { group, number, share } from './kinds.ts'

/** A divisor: a value this far from neutral is full evidence. */
const scale = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 1_000_000 }, description)

const neutral = (fallback: number, description: string) =>
  number(fallback, { min: -1_000_000, max: 1_000_000 }, description)

const volumeShare = (fallback: number, description: string) =>
  number(fallback, { above: 0, max: 100 }, description)

export const parts = group('What turns raw values into evidence between -1 and 1', {
  ta: group('signal.ta.v1', {
    rsi_neutral: neutral(50, 'RSI that says nothing'),
    rsi_scale: scale(20, 'distance from neutral for full evidence'),
    volume_base: share(0.75, 'weight of the trend without volume'),
    volume_slope: share(0.25, 'added weight per unit of volume ratio'),
    volume_ratio_max: number(3, { min: 1, max: 100 }, 'volume ratio beyond which nothing is added'),
    bollinger_factor: number(2, { min: 0, max: 100 }, 'evidence per unit of distance from the middle band'),
    ema_fast_scale: scale(0.02, 'EMA20 over EMA50, distance for full evidence'),
    ema_slow_scale: scale(0.05, 'EMA50 over EMA200, distance for full evidence'),
  }),
  onchain: group('signal.onchain.v1', {
    whale_volume_share: volumeShare(0.02, 'whale netflow over 24 h volume for full evidence'),
    exchange_volume_share: volumeShare(0.01, 'exchange outflow over 24 h volume for full evidence'),
    momentum_scale: scale(10, '24 h price change in % for full evidence'),
    active_addresses_scale: scale(20, 'change of active addresses in % for full evidence'),
  }),
  whale: group('signal.whale.v1', {
    netflow_volume_share: volumeShare(0.02, 'smart-money netflow over 24 h volume for full evidence'),
    top_holders_scale: scale(5, 'change of top holders in % for full evidence'),
  }),
  stablecoin: group('signal.stablecoin.v1', {
    supply_24h_scale: scale(1, 'supply change over 24 h in % for full evidence'),
    supply_7d_scale: scale(3, 'supply change over 7 days in % for full evidence'),
  }),
  tradfi: group('signal.tradfi.v1', {
    funding_neutral: neutral(10, 'funding in % per year that says nothing'),
    funding_scale: scale(30, 'distance from neutral for full evidence'),
    basis_neutral: neutral(5, 'basis in % per year that says nothing'),
    basis_scale: scale(8, 'distance from neutral for full evidence'),
    open_interest_scale: scale(20, 'open-interest change in % for full evidence'),
    momentum_scale: scale(5, '24 h price change in % that gives open interest its sign'),
    meltup_neutral: neutral(2, 'melt-up score that says nothing'),
    meltup_scale: scale(2, 'distance from neutral for full evidence'),
  }),
  etf: group('signal.etf.v1', {
    flow_volume_share: volumeShare(0.01, 'daily flow over 24 h volume for full evidence'),
    streak_scale: scale(10, 'days of one direction for full evidence'),
    cumulative_volume_share: volumeShare(0.05, '7-day flow over 24 h volume for full evidence'),
  }),
  social: group('signal.social.v1', {
    score_scale: scale(10, 'score for full evidence'),
    echo_chamber_factor: share(0.5, 'what is left of a score flagged as echo chamber'),
  }),
  sentiment: group('signal.sentiment.v1', {
    fear_greed_neutral: neutral(50, 'fear and greed index that says nothing'),
    fear_greed_scale: scale(50, 'distance from neutral for full evidence'),
  }),
  aci: group('signal.aci.v1', {
    consensus_scale: scale(10, 'consensus score for full evidence'),
    dispersion_scale: scale(10, 'dispersion at which a consensus says nothing'),
  }),
  events: group('signal.events.v1', {
    impact_base: share(0.5, 'weight of a headline without impact'),
    impact_slope: share(0.5, 'added weight at full impact'),
  }),
  curator: group('signal.curator.v1', {
    conviction_scale: scale(10, 'conviction for full evidence'),
  }),
})
