import { type Command, decide } from './decide.ts'
import { asKnown, type NewEvent } from './events/catalogue.ts'
import { commandsAfterBar, consequencesOf, touchesRisk } from './consequences.ts'
import type { Stamped } from './log/event.ts'
import { BarEvent } from './market/decide.ts'
import type { DecisionContext } from './shared/decision-context.ts'
import { afterBar, evolve, type State } from './state.ts'
import { assert } from './shared/assert.ts'
import type { Refusal } from './shared/decision.ts'
import type { JsonObject } from './shared/json.ts'

export type RunResult =
  | { readonly status: 'accepted'; readonly events: readonly Stamped[]; readonly state: State }
  | { readonly status: 'refused'; readonly refusal: Refusal }

/** Limit of commands that follow from one command. A cycle in the wiring must fail loudly. */
const FOLLOW_UPS_MAX = 100_000

/**
 * Whether the caller needs the event of each bar. A log stores all of them. A backtest reads none: its bars are folded
 * and followed up alike, but their events are not made.
 */
export type BarEvents = 'made' | 'left-out'

/** Runs a command and all that follows from it. Both are stored together, and only the command itself can be refused. */
export const run = (
  before: State,
  command: Command,
  context: DecisionContext,
  barEvents: BarEvents = 'made',
): RunResult => {
  const events: Stamped[] = []
  const pending: Command[] = [command]
  let state = before
  let assessment = 'none' as 'none' | 'due' | 'done'
  const { now, recordedAt = now, newId } = context
  for (let step = 0; step < pending.length || assessment === 'due'; step += 1) {
    // Risk is assessed once, at the end: the kill switch judges the state after the last consequence.
    if (step === pending.length) {
      pending.push({ kind: 'assess-risk' })
      assessment = 'done'
    }
    const next = pending[step] as Command
    assert(step < FOLLOW_UPS_MAX, `${next.kind}: one command sets off more than ${FOLLOW_UPS_MAX} others`)
    const decision = decide(state, next, context)
    if (decision.status === 'refused') {
      assert(step === 0, `follow-up ${next.kind} was refused: ${decision.refusal.code}`)
      return decision
    }
    for (const event of decision.events) {
      if (barEvents === 'left-out' && event instanceof BarEvent) {
        const { observed } = event
        // Every event takes an id, made or not, so that the other ids of a run do not depend on it.
        newId()
        state = afterBar(state, observed, { seq: state.seq + 1, recordedAt })
        for (const follower of commandsAfterBar(observed)) pending.push(follower)
        if (assessment === 'none' && !observed.bar.backfill) assessment = 'due'
        continue
      }
      const stamped = stamp(event, state.seq + 1, context)
      state = evolve(state, stamped)
      events.push(stamped)
      const known = asKnown(stamped)
      if (known === null) continue
      for (const follower of consequencesOf(known)) pending.push(follower)
      if (assessment === 'none' && touchesRisk(known)) assessment = 'due'
    }
  }
  return { status: 'accepted', events, state }
}

/** An event in its stored form. */
const stamp = (
  event: NewEvent,
  seq: number,
  { now, recordedAt = now, newId, traceId }: DecisionContext,
): Stamped => ({
  seq,
  id: event.id ?? newId(),
  type: event.type,
  ts: event.ts ?? now,
  source: event.source,
  traceId: event.traceId ?? traceId,
  dedupeKey: event.dedupeKey ?? null,
  payload: event.payload as unknown as JsonObject,
  recordedAt,
})
