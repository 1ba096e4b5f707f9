import { z } from 'zod'
import { share } from '../config/sections/kinds.ts'
import { clamp } from '../shared/numbers.ts'
import { DIRECTIONS, numberIn, scale, settingsOf, symbol, weightedType } from './declare.ts'

/** Activity in social media about a symbol. */
export const social = weightedType({
  name: 'social',
  domain: 'social',
  producer: { name: 'social-intel', schedule: '*/15 * * * *' },
  payload: z.looseObject({
    symbol,
    score: z.number().min(-10).max(10),
    direction: z.enum(DIRECTIONS),
    source_count: z.int(),
    contrarian_flag: z.boolean().optional(),
    echo_chamber_flag: z.boolean().optional(),
  }),
  settings: settingsOf('social', {
    score_scale: scale(10, 'score for full evidence'),
    echo_chamber_factor: share(0.5, 'what is left of a score flagged as echo chamber'),
  }),
  partsOf: (payload, settings) => {
    const score = numberIn(payload, 'score')
    if (score === null) return { score }
    const factor = payload['echo_chamber_flag'] === true ? settings.echo_chamber_factor : 1
    return { score: clamp(score / settings.score_scale) * factor }
  },
})
