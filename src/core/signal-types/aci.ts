import { z } from 'zod'
import { clamp, clamp01 } from '../shared/numbers.ts'
import { numberIn, positiveIn, scale, settingsOf, symbol, weightedType } from './declare.ts'

/** The consensus of several AI models. */
export const aci = weightedType({
  name: 'aci',
  domain: 'social',
  producer: { name: 'ai-consensus', schedule: '0 * * * *' },
  payload: z.looseObject({
    symbol,
    consensus_score: z.number().min(-10).max(10),
    models_queried: z.int(),
    models_responded: z.int(),
    dispersion: z.number(),
  }),
  settings: settingsOf('aci', {
    consensus_scale: scale(10, 'consensus score for full evidence'),
    dispersion_scale: scale(10, 'dispersion at which a consensus says nothing'),
  }),
  partsOf: (payload, settings) => {
    const score = numberIn(payload, 'consensus_score')
    const dispersion = numberIn(payload, 'dispersion')
    const responded = numberIn(payload, 'models_responded')
    const queried = positiveIn(payload, 'models_queried')
    if (score === null || dispersion === null || responded === null || queried === null) {
      return { consensus: null }
    }
    // Models that disagree, or do not answer, weaken the consensus.
    const unity = 1 - clamp01(dispersion / settings.dispersion_scale)
    return { consensus: clamp(score / settings.consensus_scale) * unity * clamp01(responded / queried) }
  },
})
