import type { Command } from './decide.ts'
import { decide } from './decide.ts'
import { asKnown, type NewEvent } from './events/catalogue.ts'
import { consequencesOf, touchesRisk } from './consequences.ts'
import type { Stamped } from './log/event.ts'
import type { DecisionContext } from './shared/decision-context.ts'
import { evolve, type State } from './state.ts'
import { assert } from './shared/assert.ts'
import type { Refusal } from './shared/decision.ts'
import type { JsonObject } from './shared/json.ts'

export type RunResult =
  | { readonly status: 'accepted'; readonly events: readonly Stamped[]; readonly state: State }
  | { readonly status: 'refused'; readonly refusal: Refusal }

/** A command may not set off more than this: a circle in the wiring must end loudly. */
const FOLLOW_UPS_MAX = 100_000

/** A command and all that follows from it, as one batch. Only the first command can be refused. */
export const run = (before: State, command: Command, context: DecisionContext): RunResult => {
  const events: Stamped[] = []
  const pending: Command[] = [command]
  let state = before
  let assessment: 'none' | 'due' | 'done' = 'none'
  for (let step = 0; step < pending.length; step += 1) {
    assert(step < FOLLOW_UPS_MAX, `${command.kind} sets off more than ${FOLLOW_UPS_MAX} commands`)
    const next = pending[step] as Command
    const decision = decide(state, next, context)
    if (decision.status === 'refused') {
      assert(step === 0, `follow-up ${next.kind} was refused: ${decision.refusal.code}`)
      return decision
    }
    for (const event of decision.events) {
      const stamped = stamp(event, state.seq + 1, context)
      state = evolve(state, stamped)
      events.push(stamped)
      const known = asKnown(stamped)
      if (known === null) continue
      pending.push(...consequencesOf(known))
      if (assessment === 'none' && touchesRisk(known)) assessment = 'due'
    }
    // Once and last: the kill switch judges what a batch came to, not how it got there.
    if (assessment === 'due' && step === pending.length - 1) {
      pending.push({ kind: 'assess-risk' })
      assessment = 'done'
    }
  }
  return { status: 'accepted', events, state }
}

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
