import { assert } from '../../../core/shared/assert.ts'
import { learningRunView, viewLearningRun, weightsView } from '../../../core/views/learning.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { aboutPast, asOfMember } from '../as-of.ts'
import { EVENT_ID, TS } from '../examples.ts'
import { ok } from '../results.ts'
import { integer } from '../fields.ts'
import { route, routes } from '../route.ts'

const PREVIOUS = { curator: 0.25, onchain: 0.25, tradfi: 0.2, social: 0.15, technical: 0.1, events: 0.05 }
const LEARNED = {
  curator: 0.25825,
  onchain: 0.25325,
  tradfi: 0.19,
  social: 0.14825,
  technical: 0.10025,
  events: 0.05,
}

const LEARNING_RUN = {
  id: EVENT_ID,
  at: TS,
  trigger: 'schedule',
  reason: 'adjusted',
  applied: true,
  step: 0.01,
  observations: 42,
  window_mean_return: 0.0041,
  correlations: { curator: 1, onchain: 0.5, tradfi: -1, social: 0, technical: 0.2, events: -1 },
  edges: { curator: 0, onchain: 0, tradfi: 0, social: 0, technical: 0, events: 0 },
  previous_weights: PREVIOUS,
  new_weights: LEARNED,
  deltas: {
    curator: 0.00825,
    onchain: 0.00325,
    tradfi: -0.01,
    social: -0.00175,
    technical: 0.00025,
    events: 0,
  },
  weights_version: 1,
} as const

const WEIGHTS = {
  weights: LEARNED,
  origin: 'learned',
  version: 1,
  learned_at: TS,
  configured_weights: PREVIOUS,
  first_close_at: '2026-01-02T09:00:00.000Z',
  last_run_at: TS,
  next_run_at: '2026-02-26T00:00:00.000Z',
  history: [LEARNING_RUN],
} as const

export const learningRoutes = routes('Learning', {
  getWeights: route('GET', '/learning/weights', 'read', {
    summary: 'Weights of the domains, and the learning runs behind them',
    response: weightsView.extend(asOfMember).meta({ id: 'Weights' }),
    example: WEIGHTS,
    ...aboutPast({
      query: { limit: integer(20, { min: 1, max: 500 }, 'how many runs') },
      answer: async ({ reader, configuration, clock }, { query: { limit } }) =>
        ok(await weightsOf(reader, configuration, { clock, limit })),
    }),
  }),
  runLearning: route('POST', '/learning/run', 'operator', {
    summary: 'Learn from closed trades now',
    description:
      'What otherwise happens every `learning.interval_seconds`. Every run is recorded, also one that changes nothing.',
    response: learningRunView.meta({ id: 'LearningRun' }),
    example: LEARNING_RUN,
    problems: ['learning.disabled'],
    handler: ({ execute }) =>
      execute({ kind: 'run-learning', cause: { trigger: 'api' } }, ([event]) => {
        const view = event === undefined ? null : viewLearningRun(event, event.payload)
        assert(view !== null, 'a learning run must leave a record')
        return view
      }),
  }),
})
