import { z } from 'zod'
import { REGIMES } from '../events/brain.ts'
import type { State } from '../state.ts'

export const regimeView = z.object({
  regime: z.enum(REGIMES).nullable(),
  changed_at: z.string().nullable(),
  /** The evidence behind it. */
  conditions: z.record(z.string(), z.number().nullable()),
})

export const viewRegime = ({ brain }: Pick<State, 'brain'>): z.infer<typeof regimeView> => ({
  regime: brain.regime?.regime ?? null,
  changed_at: brain.regime?.changedAt ?? null,
  conditions: brain.regime?.evidence ?? {},
})
