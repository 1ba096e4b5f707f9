import { z } from 'zod'
import {
  above,
  flowIn,
  numberIn,
  optionalCount,
  optionalNumber,
  scale,
  settingsOf,
  symbol,
  volumeShare,
  weightedType,
} from './declare.ts'

/** Money that flows into and out of exchange-traded funds. */
export const etf = weightedType({
  name: 'etf',
  domain: 'tradfi',
  producer: { name: 'etf-flows', schedule: '0 * * * *' },
  payload: z.looseObject({
    symbol,
    daily_flow_usd: optionalNumber,
    streak_days: optionalCount,
    cumulative_7d: optionalNumber,
  }),
  settings: settingsOf('etf', {
    flow_volume_share: volumeShare(0.01, 'daily flow over 24 h volume for full evidence'),
    streak_scale: scale(10, 'days of one direction for full evidence'),
    cumulative_volume_share: volumeShare(0.05, '7-day flow over 24 h volume for full evidence'),
  }),
  partsOf: (payload, settings, market) => ({
    day: flowIn(payload, 'daily_flow_usd', settings.flow_volume_share, market),
    streak: above(numberIn(payload, 'streak_days'), 0, settings.streak_scale),
    week: flowIn(payload, 'cumulative_7d', settings.cumulative_volume_share, market),
  }),
})
