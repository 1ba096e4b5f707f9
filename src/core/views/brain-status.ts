import { z } from 'zod'
import type { State } from '../state.ts'

export const brainStatusView = z.object({
  regime: z.string().nullable(),
  regime_changed_at: z.string().nullable(),
  kill_switch_level: z.int().min(0).max(3),
  kill_switch_reason: z.string().nullable(),
  kill_switch_changed_at: z.string().nullable(),
  last_cycle_id: z.string().nullable(),
  last_cycle_at: z.string().nullable(),
})

export type BrainStatusView = z.infer<typeof brainStatusView>

export const viewBrainStatus = ({
  killSwitch,
  mind,
}: Pick<State, 'killSwitch' | 'mind'>): BrainStatusView => ({
  regime: mind.regime?.regime ?? null,
  regime_changed_at: mind.regime?.changedAt ?? null,
  kill_switch_level: killSwitch.level,
  kill_switch_reason: killSwitch.reason,
  kill_switch_changed_at: killSwitch.changedAt,
  last_cycle_id: mind.lastCycle?.id ?? null,
  last_cycle_at: mind.lastCycle?.at ?? null,
})
