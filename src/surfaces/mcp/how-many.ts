import { z } from 'zod'

const LIMIT_MAX = 100

/** More than a model can use is not refused, but not given either. */
export const howMany = z
  .int()
  .min(1)
  .default(20)
  .meta({ description: `how many; more than ${LIMIT_MAX} counts as ${LIMIT_MAX}` })
  .transform((limit) => Math.min(limit, LIMIT_MAX))
