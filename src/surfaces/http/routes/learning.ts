import { z } from 'zod'
import { learningRunView, viewLearningRun, weightsView } from '../../../core/views/learning.ts'
import { weightsOf } from '../../../engine/queries/views.ts'
import { resultOf, ok } from '../results.ts'
import { LEARNING_RUN, WEIGHTS } from '../examples-trading.ts'
import { integer } from '../fields.ts'
import { defineRoute } from '../route.ts'

const tag = 'Learning'

export const learningRoutes = [
  defineRoute({
    method: 'GET',
    path: '/learning/weights',
    operationId: 'getWeights',
    tag,
    summary: 'Weights of the domains, and the learning runs behind them',
    query: z.object({ limit: integer(20, { min: 1, max: 500 }, 'how many runs') }),
    response: weightsView.meta({ id: 'Weights' }),
    example: WEIGHTS,
    handler: async ({ query: { limit } }, { engine, configuration, clock }) =>
      ok(await weightsOf(engine, configuration.current(), { clock, limit })),
  }),
  defineRoute({
    method: 'POST',
    path: '/learning/run',
    access: 'operator',
    operationId: 'runLearning',
    tag,
    summary: 'Learn from closed trades now',
    description:
      'What otherwise happens every `learning.interval_seconds`. Every run is recorded, also one that changes nothing.',
    response: learningRunView.meta({ id: 'LearningRun' }),
    example: LEARNING_RUN,
    problems: ['learning.disabled'],
    handler: async ({ traceId }, { engine }) =>
      resultOf(
        await engine.execute({ kind: 'run-learning', cause: { trigger: 'api' } }, { traceId }),
        ([event]) => {
          const view = event === undefined ? null : viewLearningRun(event, event.payload)
          if (view === null) throw new Error('a learning run left no record')
          return view
        },
      ),
  }),
]
