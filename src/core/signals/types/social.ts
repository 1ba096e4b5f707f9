import type { JsonObject } from '../../shared/json.ts'
import { clamp, clamp01 } from '../../shared/numbers.ts'
import { below, numberIn, positiveIn, type Reader } from './reader.ts'

export interface SocialRules {
  readonly social: { readonly score_scale: number; readonly echo_chamber_factor: number }
  readonly sentiment: { readonly fear_greed_neutral: number; readonly fear_greed_scale: number }
  readonly aci: { readonly consensus_scale: number; readonly dispersion_scale: number }
}

export const socialScores: Reader<SocialRules> = {
  domain: 'social',
  partsOf: (payload, { social }) => {
    const score = numberIn(payload, 'score')
    if (score === null) return { score }
    const factor = payload['echo_chamber_flag'] === true ? social.echo_chamber_factor : 1
    return { score: clamp(score / social.score_scale) * factor }
  },
}

/** Fear and greed is read as crowding. */
export const marketMood: Reader<SocialRules> = {
  domain: 'social',
  partsOf: (payload, { sentiment }) => ({
    fearGreed: below(
      numberIn(payload, 'fear_greed'),
      sentiment.fear_greed_neutral,
      sentiment.fear_greed_scale,
    ),
  }),
}

export const modelConsensus: Reader<SocialRules> = {
  domain: 'social',
  partsOf: (payload, { aci }) => ({ consensus: consensusIn(payload, aci) }),
}

/** Models that disagree, or do not answer, say less. */
const consensusIn = (payload: JsonObject, rules: SocialRules['aci']): number | null => {
  const score = numberIn(payload, 'consensus_score')
  const dispersion = numberIn(payload, 'dispersion')
  const responded = numberIn(payload, 'models_responded')
  const queried = positiveIn(payload, 'models_queried')
  if (score === null || dispersion === null || responded === null || queried === null) return null
  const unity = 1 - clamp01(dispersion / rules.dispersion_scale)
  return clamp(score / rules.consensus_scale) * unity * clamp01(responded / queried)
}
