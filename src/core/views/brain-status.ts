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
  trading: { killSwitch },
  brain,
}: Pick<State, 'trading' | 'brain'>): BrainStatusView => ({
  regime: brain.regime?.regime ?? null,
  regime_changed_at: brain.regime?.changedAt ?? null,
  kill_switch_level: killSwitch.level,
  kill_switch_reason: killSwitch.reason,
  kill_switch_changed_at: killSwitch.changedAt,
  last_cycle_id: brain.lastCycle?.id ?? null,
  last_cycle_at: brain.lastCycle?.at ?? null,
})
