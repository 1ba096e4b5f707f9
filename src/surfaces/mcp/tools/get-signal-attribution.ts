import { z } from 'zod'
import { attributionView } from '../../../core/views/signals.ts'
import { attributionOf } from '../../../engine/queries/attribution.ts'
import { LIMITS_NOTE } from '../limits.ts'
import { defineTool, failed, found, orError, READS } from '../tool.ts'

const NOT_FOUND = 'signal_not_found'

export const getSignalAttribution = defineTool({
  title: 'Attribution of a signal',
  advice: LIMITS_NOTE,
  annotations: READS,
  input: z.object({ signal_id: z.string().meta({ description: 'id of a stored signal' }) }),
  output: orError(attributionView, [NOT_FOUND]),
  call: async ({ input: { signal_id }, house: { engine } }) => {
    const attribution = await attributionOf(engine, signal_id)
    return attribution === null ? failed(NOT_FOUND, { signal_id }) : found(attribution)
  },
})
