import { z } from 'zod'
import { treasuryView, viewTreasury } from '../../../core/views/treasury.ts'
import { defineTool, found, READS } from '../tool.ts'

export const getTreasury = defineTool({
  title: 'Treasury',
  annotations: READS,
  input: z.object({}),
  output: treasuryView,
  call: async ({ house: { engine, configuration } }) =>
    found(viewTreasury((await engine.fresh()).treasury, configuration().karma)),
})
