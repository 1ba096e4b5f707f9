import { z } from 'zod'
import {
  below,
  neutral,
  numberIn,
  optionalIndex,
  optionalNumber,
  scale,
  settingsOf,
  symbol,
  weightedType,
} from './declare.ts'

/** Fear and greed, read as crowding: greed is a risk for longs. */
export const sentiment = weightedType({
  name: 'sentiment',
  domain: 'social',
  producer: { name: 'market-sentiment', schedule: '0 * * * *' },
  payload: z.looseObject({
    symbol,
    fear_greed: optionalIndex,
    fear_greed_change_7d: optionalNumber,
    ct_sentiment: z.string().max(2000).optional(),
  }),
  settings: settingsOf('sentiment', {
    fear_greed_neutral: neutral(50, 'fear and greed index that says nothing'),
    fear_greed_scale: scale(50, 'deviation from neutral for full evidence'),
  }),
  partsOf: (payload, settings) => ({
    fearGreed: below(numberIn(payload, 'fear_greed'), settings.fear_greed_neutral, settings.fear_greed_scale),
  }),
})
