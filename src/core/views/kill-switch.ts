import type { Timestamp } from '../shared/brand.ts'
import { isAdopted } from '../trading/positions.ts'
import { z } from 'zod'
import { asKnown } from '../events/catalogue.ts'
import { evolveKillSwitch, type KillSwitch } from '../trading/kill-switch.ts'
import type { Stamped } from '../log/event.ts'
import { LEVEL_STATES } from '../shared/level.ts'
import type { Configuration } from '../config/schema.ts'
import { liveBlockers } from '../trading/destination.ts'
import { openPositionsOf } from '../trading/book.ts'
import type { State } from '../state.ts'
import { shown } from './members.ts'

export const killSwitchView = z.object({
  level: z.int().min(0).max(3),
  state: z.enum(LEVEL_STATES),
  reason: z.string().nullable(),
  changed_at: z.string().nullable(),
  changed_by: z.string().nullable(),
})

export type KillSwitchView = z.infer<typeof killSwitchView>

export const viewKillSwitch = (killSwitch: KillSwitch): KillSwitchView =>
  showKillSwitch({ ...killSwitch, state: LEVEL_STATES[killSwitch.level] })

const showKillSwitch = shown(killSwitchView)

/** Where a command left the switch, even if it was moved since. */
export const viewKillSwitchAfter = (before: KillSwitch, events: readonly Stamped[]): KillSwitchView =>
  viewKillSwitch(events.flatMap((event) => asKnown(event) ?? []).reduce(evolveKillSwitch, before))

const BLOCKERS = [
  'mode_paper',
  'no_venue',
  'not_confirmed',
  'not_checked',
  'check_failed',
  'reduce_only',
  'order_unknown',
  'paper_period',
  'kill_switch',
] as const

export const liveView = z.object({
  mode: z.enum(['paper', 'live']),
  venue: z.string().nullable().meta({ description: 'as configured; null for none' }),
  sends_entries: z.boolean().meta({ description: 'whether an entry would be sent to the venue now' }),
  held_back_by: z.array(z.enum(BLOCKERS)).meta({ description: 'every reason why not' }),
  confirmed: z
    .object({ venue: z.string(), by: z.string(), at: z.string() })
    .nullable()
    .meta({ description: 'by `svc live enable`' }),
  checks: z
    .object({
      at: z.string(),
      ok: z.boolean(),
      items: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
    })
    .nullable()
    .meta({ description: 'what the newest look at the venue found' }),
  reduce_only: z
    .object({ reason: z.string(), since: z.string() })
    .nullable()
    .meta({ description: 'until an operator has looked at it' }),
  unknown_orders: z.array(z.string()).meta({ description: 'ids; nobody knows whether the venue has them' }),
  adopted_positions: z.array(z.string()).meta({ description: 'ids; found at the venue, not opened here' }),
})

export type LiveView = z.infer<typeof liveView>

/** Whether real orders are sent, and everything that keeps them from it. */
export const viewLive = (state: State, configuration: Configuration, now: Timestamp): LiveView => {
  const { mode, venue } = configuration.execution
  const { confirmed, checked, reduceOnly } = state.trading.venue
  const heldBackBy = [
    ...(mode === 'paper' ? (['mode_paper'] as const) : []),
    ...liveBlockers(state, { now, configuration }),
    ...(state.trading.killSwitch.level >= 2 ? (['kill_switch'] as const) : []),
  ]
  return {
    mode,
    venue: venue === '' ? null : venue,
    sends_entries: heldBackBy.length === 0,
    held_back_by: heldBackBy,
    confirmed,
    checks: checked && { at: checked.at, ok: checked.ok, items: [...checked.checks] },
    reduce_only: reduceOnly,
    unknown_orders: [...state.trading.orders.open.values()]
      .filter(({ status }) => status === 'unknown')
      .map(({ id }) => id)
      .toSorted(),
    adopted_positions: openPositionsOf(state.trading)
      .filter(isAdopted)
      .map(({ id }) => id),
  }
}
