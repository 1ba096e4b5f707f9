import { z } from 'zod'
import { portfolioView } from '../../../core/views/portfolio.ts'
import { portfolioOf } from '../../../engine/queries/views.ts'
import { defineTool, found, READS } from '../tool.ts'

export const getPortfolio = defineTool({
  title: 'Portfolio',
  annotations: READS,
  input: z.object({}),
  output: portfolioView,
  call: async ({ house: { engine, configuration, clock } }) =>
    found(await portfolioOf(engine, configuration(), clock)),
})
