import { clamp01 } from '../../shared/numbers.ts'
import { numberIn, type Reader } from './reader.ts'

export interface EventsRules {
  readonly events: { readonly impact_base: number; readonly impact_slope: number }
}

export const headlines: Reader<EventsRules> = {
  domain: 'events',
  partsOf: (payload, { events }) => {
    const sentiment = numberIn(payload, 'headline_sentiment')
    if (sentiment === null) return { headlines: null }
    const impact = clamp01(numberIn(payload, 'impact_score') ?? 0)
    return { headlines: sentiment * (events.impact_base + events.impact_slope * impact) }
  },
}
