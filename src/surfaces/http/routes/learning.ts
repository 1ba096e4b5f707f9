import { z } from 'zod'
import { assert } from '../../../core/shared/assert.ts'
import { learningRunView, viewLearningRun, weightsView } from '../../../core/views/learning.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { ABOUT_PAST, answeredAsOf, asOfMember, asOfQuery } from '../as-of.ts'
import { ok } from '../results.ts'
import { LEARNING_RUN, WEIGHTS } from '../examples-trading.ts'
import { integer } from '../fields.ts'
import { route, routes } from '../route.ts'

export const learningRoutes = routes('Learning', {
  getWeights: route('GET', '/learning/weights', 'read', {
    summary: 'Weights of the domains, and the learning runs behind them',
    query: z.object({ limit: integer(20, { min: 1, max: 500 }, 'how many runs'), ...asOfQuery }),
    response: weightsView.extend(asOfMember).meta({ id: 'Weights' }),
    example: WEIGHTS,
    ...ABOUT_PAST,
    handler: ({ query }, service) =>
      answeredAsOf(query, service, async ({ reader, configuration, clock }) =>
        ok(await weightsOf(reader, configuration, { clock, limit: query.limit })),
      ),
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
