import { z } from 'zod'
import { share } from '../config/sections/kinds.ts'
import { clamp01 } from '../shared/numbers.ts'
import { textList } from '../shared/text.ts'
import { numberIn, optionalCount, settingsOf, symbol, weightedType } from './declare.ts'

/** News and scheduled events. */
export const events = weightedType({
  name: 'events',
  domain: 'events',
  producer: { name: 'market-events', schedule: '*/30 * * * *' },
  payload: z.looseObject({
    symbol,
    headline_sentiment: z.number().min(-1).max(1).optional(),
    impact_score: z.number().min(0).max(1).optional(),
    event_count: optionalCount,
    catalysts: textList().optional(),
  }),
  settings: settingsOf('events', {
    impact_base: share(0.5, 'weight of a headline without impact'),
    impact_slope: share(0.5, 'added weight at full impact'),
  }),
  partsOf: (payload, settings) => {
    const sentiment = numberIn(payload, 'headline_sentiment')
    if (sentiment === null) return { headlines: null }
    const impact = clamp01(numberIn(payload, 'impact_score') ?? 0)
    return { headlines: sentiment * (settings.impact_base + settings.impact_slope * impact) }
  },
})
