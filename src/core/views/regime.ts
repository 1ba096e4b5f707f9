import { z } from 'zod'
import { REGIMES } from '../events/brain.ts'
import type { State } from '../state.ts'

export const regimeView = z.object({
  regime: z.enum(REGIMES).nullable(),
  changed_at: z.string().nullable(),
  /** The evidence behind it. */
  conditions: z.record(z.string(), z.number().nullable()),
})

export const viewRegime = ({ mind }: Pick<State, 'mind'>): z.infer<typeof regimeView> => ({
  regime: mind.regime?.regime ?? null,
  changed_at: mind.regime?.changedAt ?? null,
  conditions: mind.regime?.evidence ?? {},
})
