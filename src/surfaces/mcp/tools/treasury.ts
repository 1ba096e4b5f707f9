import { z } from 'zod'
import { treasuryView, viewTreasury } from '../../../core/views/treasury.ts'
import { defineTool, found, READS } from '../tool.ts'

const getTreasury = defineTool({
  title: 'Treasury',
  annotations: READS,
  input: z.object({}),
  output: treasuryView,
  call: async ({ dependencies: { engine, configuration } }) =>
    found(viewTreasury((await engine.fresh()).treasury, configuration().karma)),
})

export const treasuryTools = { get_treasury: getTreasury }
