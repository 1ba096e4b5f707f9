import type { Timestamp } from '../shared/brand.ts'
import { isAdopted } from '../trading/positions/positions.ts'
import { z } from 'zod'
import { asKnown } from '../events/catalogue.ts'
import { evolveKillSwitch, type KillSwitch } from '../trading/risk/kill-switch.ts'
import type { Stamped } from '../log/event.ts'
import { LEVEL_STATES } from '../shared/level.ts'
import type { Configuration } from '../config/schema.ts'
import { liveBlockers, symbolBlockers } from '../trading/venue/destination.ts'
import { openElsewhere, unroutedSentence } from '../trading/venue/unrouted.ts'
import { openPositionsOf } from '../trading/positions/book.ts'
import type { State } from '../state.ts'
import { r9 } from '../shared/numbers.ts'
import { exchangeOf } from '../shared/sandbox.ts'
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

/** State of the kill switch right after a command, even if it has changed since. */
export const viewKillSwitchAfter = (before: KillSwitch, events: readonly Stamped[]): KillSwitchView =>
  viewKillSwitch(events.flatMap((event) => asKnown(event) ?? []).reduce(evolveKillSwitch, before))

const BLOCKERS = [
  'mode_paper',
  'no_venue',
  'not_confirmed',
  'not_checked',
  'check_failed',
  'reduce_only',
  'open_elsewhere',
  'order_unknown',
  'paper_period',
  'feed_simulated',
  'feed_file',
  'feed_other_venue',
  'price_old',
  'quote_old',
  'price_differs',
  'kill_switch',
] as const

type ShownBlocker = (typeof BLOCKERS)[number]

export const liveView = z.object({
  mode: z.enum(['paper', 'live']),
  venue: z.string().nullable().meta({ description: 'as configured; null for none' }),
  sends_entries: z.boolean().meta({ description: 'whether an entry would be sent to the venue now' }),
  held_back_by: z.array(z.enum(BLOCKERS)).meta({ description: 'every reason why not' }),
  reasons: z
    .array(z.object({ code: z.enum(BLOCKERS), text: z.string() }))
    .meta({ description: 'the same in sentences, and what holds back single symbols only' }),
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
  const heldBackBy: readonly ShownBlocker[] = [
    ...(mode === 'paper' ? (['mode_paper'] as const) : []),
    ...liveBlockers(state, { now, configuration }),
    ...(state.trading.killSwitch.level >= 2 ? (['kill_switch'] as const) : []),
  ]
  const elsewhere = openElsewhere(state.trading, configuration.execution)
  const bySymbol = symbolBlockers(state, { now, configuration })
  const codes = new Set<ShownBlocker>([...heldBackBy, ...[...bySymbol.values()].flat()])
  const symbolsWith = (code: ShownBlocker): readonly string[] =>
    [...bySymbol]
      .filter(([, blockers]) => blockers.some((blocker) => blocker === code))
      .map(([symbol]) => symbol)
  return {
    mode,
    venue: venue === '' ? null : venue,
    sends_entries: heldBackBy.length === 0,
    held_back_by: [...heldBackBy],
    reasons: [...codes].flatMap((code): LiveView['reasons'] =>
      code === 'open_elsewhere'
        ? elsewhere.map((unrouted) => ({
            code,
            text: `${unroutedSentence(unrouted, configuration.execution)}.`,
          }))
        : [{ code, text: sentenceOf(code, configuration, symbolsWith(code)) }],
    ),
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

/** Describes a blocker of live trading and how to remove it. */
export const sentenceOf = (
  code: Exclude<ShownBlocker, 'open_elsewhere'>,
  { execution, market }: Configuration,
  symbols: readonly string[] = [],
): string => {
  const { venue } = execution
  const listed = symbols.join(', ')
  switch (code) {
    case 'mode_paper':
      return 'execution.mode is paper: orders are filled here.'
    case 'no_venue':
      return 'execution.venue names no venue.'
    case 'not_confirmed':
      return `Nobody has confirmed ${venue}: run "svc live enable".`
    case 'not_checked':
      return `${venue} has not been checked yet.`
    case 'check_failed':
      return `${venue} did not pass its checks.`
    case 'reduce_only':
      return 'Venue and log held different positions: look at them, then run "svc live resume".'
    case 'order_unknown':
      return 'It is not known whether the venue has an order: it is looked up.'
    case 'paper_period':
      return (
        `Fewer than ${execution.paper_min_days} days on paper with prices of a real market ` +
        '(execution.paper_min_days); days of a simulated market or a file do not count.'
      )
    case 'feed_simulated':
      return `Prices are simulated (market.feed): real orders need those of ${venue}.`
    case 'feed_file':
      return `Prices come from a file (market.feed): real orders need those of ${venue}.`
    case 'feed_other_venue':
      return (
        `Prices come from ${market.exchange} (market.exchange), orders go to ${venue}: ` +
        `set market.exchange to ${exchangeOf(venue)}.`
      )
    case 'price_old':
      return `No price is newer than ${execution.max_price_age_seconds} s (execution.max_price_age_seconds): ${listed}.`
    case 'quote_old':
      return `${venue} has not said lately what it trades at, so prices cannot be compared: ${listed}.`
    case 'price_differs':
      return (
        `Prices differ by more than ${r9(execution.max_price_difference_pct * 100)} % from those of ${venue} ` +
        `(execution.max_price_difference_pct): ${listed}.`
      )
    case 'kill_switch':
      return 'The kill switch is at level 2 or 3.'
  }
}
