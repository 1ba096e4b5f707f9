import { z } from 'zod'
import { REGIMES } from '../events/brain.ts'
import type { Stamped } from '../log/event.ts'
import type { Intent } from '../trading/intents.ts'
import type { State } from '../state.ts'
import { killSwitchLevel } from '../shared/level.ts'

export const intentView = z.object({
  intent_id: z.string(),
  symbol: z.string(),
  direction: z.enum(['long', 'short']),
  size_pct: z.number(),
  leverage: z.number(),
  conviction_score: z.number(),
  regime: z.enum(REGIMES),
  rationale: z.string(),
  stop_loss_pct: z.number().nullable(),
  take_profit_pct: z.number().nullable(),
  valid_until: z.string(),
  status: z.enum(['awaiting_approval', 'ready', 'executing', 'filled', 'rejected', 'expired']),
  reasons: z.array(z.string()),
  position_id: z.string().nullable(),
})

export const cycleView = z.object({
  cycle_id: z.string(),
  ts: z.string(),
  intents: z.array(intentView),
  regime: z.enum(REGIMES).nullable(),
  kill_switch_level: killSwitchLevel,
})

export type CycleView = z.infer<typeof cycleView>

/** What a cycle came to: its intents as they stand after everything that followed in the same batch. */
export const viewCycle = (
  cycle: { readonly id: string; readonly events: readonly Stamped[] },
  { trading: { intents, killSwitch }, brain }: Pick<State, 'trading' | 'brain'>,
): CycleView => ({
  cycle_id: cycle.id,
  ts: cycle.events[0]?.ts ?? '',
  intents: cycle.events
    .filter(({ type }) => type === 'execution.trade_intent.v1')
    .flatMap(({ id }) => intents.get(id) ?? [])
    .map(viewIntent),
  regime: brain.regime?.regime ?? null,
  kill_switch_level: killSwitch.level,
})

export const viewIntent = ({
  id,
  intent,
  status,
  reasons,
  positionId,
}: Intent): z.infer<typeof intentView> => ({
  intent_id: id,
  symbol: intent.symbol,
  direction: intent.direction,
  size_pct: intent.size_pct,
  leverage: intent.leverage,
  conviction_score: intent.conviction_score,
  regime: intent.regime,
  rationale: intent.rationale,
  stop_loss_pct: intent.stop_loss_pct,
  take_profit_pct: intent.take_profit_pct,
  valid_until: intent.valid_until,
  status,
  reasons: [...reasons],
  position_id: positionId,
})
