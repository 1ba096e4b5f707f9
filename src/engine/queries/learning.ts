import type { Configuration } from '../../core/config/schema.ts'
import { viewWeights, type WeightsView } from '../../core/views/learning.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Reader } from './reader.ts'

/** The weights in force, and the newest runs that led there. */
export const weightsOf = async (
  reader: Reader,
  configuration: Configuration,
  { clock, limit }: { readonly clock: Clock; readonly limit: number },
): Promise<WeightsView> => {
  const {
    brain: { learning },
  } = await reader.fresh()
  const runs = await reader.log.read({ types: ['learning.weight_adjustment'], order: 'desc', limit })
  return viewWeights(learning, configuration, { nowMs: clock.now(), runs })
}
