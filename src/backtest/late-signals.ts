import type { KnownEvent, PayloadOf, StoredSignal } from '../core/events/catalogue.ts'
import {
  afterJoining as callsAfterJoining,
  SIGNALS_MAX,
  type Call,
  type Calls,
  type Joining,
} from '../core/reputation/calls.ts'
import { evolveReputation, type ReputationFacts, type ReputationState } from '../core/reputation/evolve.ts'
import { callJoinedBy, callsOfSignals } from '../core/reputation/open-call.ts'
import { afterJoined } from '../core/reputation/overlaps.ts'
import { signalId, type CallId, type SignalId, type Timestamp } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import type { JsonObject } from '../core/shared/json.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { DAY_MS, msOf } from '../core/shared/time.ts'
import { weightedTypeOf } from '../core/signal-types/all.ts'
import { priceWs } from '../core/signal-types/price-ws.ts'
import type { SignalsState } from '../core/signals/evolve.ts'
import { evolveLatestSignals, type LatestSignals } from '../core/signals/latest-signals.ts'
import { rowFaultOf, type ProducedSignal } from '../core/signals/producer-runs.ts'
import { builtinOf } from '../core/signals/producers.ts'
import { attributionOf, type CallOf } from '../core/signals/signals.ts'
import { afterSeen, type SignalsSeen } from '../core/signals/trails.ts'
import type { State } from '../core/state.ts'

type GrowingSeen = { -readonly [Member in keyof SignalsSeen]: SignalsSeen[Member] } & { readonly day: number }

/**
 * Signals of built-in producers, most of which join open calls: nothing follows from them at once. What they leave in
 * memory is folded when somebody reads it, for a cycle only the newest of each kind; the calls that they open are there at
 * once.
 */
export class LateSignals {
  /** By type, producer and symbol: the older ones are never read. */
  readonly #newest = new Map<string, StoredSignal>()
  /** By the call that they join. */
  readonly #joining = new Map<CallId, SignalId[]>()
  #seen: GrowingSeen[] = []
  readonly #seenOf = new Map<string, GrowingSeen>()
  #count = 0
  #attributions = 0

  /** How many events are not folded yet, beside those of the runs themselves. */
  get count(): number {
    return this.#count
  }

  /** Of how many of them the ids are not taken yet. */
  get attributions(): number {
    return this.#attributions
  }

  /** Takes the signals of a run and returns reputation with them. Null, and nothing is changed, if more follows from them. */
  take(
    name: string,
    rows: readonly ProducedSignal[],
    facts: ReputationFacts,
    context: DecisionContext,
  ): ReputationState | null {
    const domain = builtinOf(name)?.domain
    const { now, configuration } = context
    if (domain === undefined || facts.signals.latest.signals.size === 0) return null
    const rules = { now, skewSecondsMax: configuration.signals.max_future_skew_seconds, domain }
    for (const row of rows) {
      const { type, ts } = row
      if (ts !== now || type === priceWs.type || rowFaultOf(row, rules) !== null) return null
    }
    // Near the limit of all signals the calls keep fewer of them.
    if (facts.reputation.calls.ofSignal.size + this.#count + rows.length >= SIGNALS_MAX) return null
    return this.#commit(name, rows, facts, context)
  }

  #commit(
    name: string,
    rows: readonly ProducedSignal[],
    facts: ReputationFacts,
    context: DecisionContext,
  ): ReputationState {
    const { now, newId, configuration } = context
    let { reputation } = facts
    let opening: CallOf | null = null
    let attributions = 0
    for (const { type, payload } of rows) {
      const id = signalId(newId())
      this.#count += 1
      this.#see(name, type, now)
      // One without weight is counted and stands nowhere else.
      if (weightedTypeOf(type) === undefined) continue
      attributions += 1
      this.#keepNewest(name, type, payload, id, now)
      const signal = { signalId: id, type, payload, contributorId: null, producerId: name, at: now }
      const call = callJoinedBy(facts, signal, configuration)
      if (call === null) {
        opening ??= callsOfSignals(facts, context)
        reputation = afterAttribution(reputation, attributionOf(signal, opening(signal), null))
      } else {
        const joining = this.#joining.get(call.id)
        if (joining === undefined) this.#joining.set(call.id, [id])
        else joining.push(id)
        reputation = afterJoining(reputation, call, now)
      }
    }
    // Their ids come after those of all signals of the run.
    this.#attributions += attributions
    this.#count += attributions
    return reputation
  }

  #keepNewest(source: string, type: string, payload: JsonObject, id: string, at: Timestamp): void {
    const { symbol } = payload
    if (typeof symbol !== 'string') return
    this.#newest.set(`${type}|${source}|${canonicalSymbol(symbol)}`, {
      seq: 0,
      id,
      type: type as StoredSignal['type'],
      ts: at,
      source,
      traceId: null,
      dedupeKey: null,
      payload,
      recordedAt: at,
    })
  }

  #see(source: string, type: string, at: Timestamp): void {
    const day = Math.floor(msOf(at) / DAY_MS)
    const before = this.#seenOf.get(source)
    if (before?.type === type && before.day === day) {
      before.last = at
      before.count += 1
      return
    }
    const seen = { source, type, first: at, last: at, count: 1, day }
    this.#seen.push(seen)
    this.#seenOf.set(source, seen)
  }

  /** With the newest signals, of which a later one of the same kind has taken the place of the others. */
  foldLatest(latest: LatestSignals): LatestSignals {
    if (this.#newest.size === 0) return latest
    let after = latest
    for (const signal of this.#newest.values()) after = evolveLatestSignals(after, signal)
    this.#newest.clear()
    return after
  }

  /** Of calls that were settled meanwhile nothing is left. */
  #joiningOf({ open }: Calls): readonly Joining[] {
    const all: Joining[] = []
    for (const [callId, signalIds] of this.#joining)
      if (open.has(callId)) for (const id of signalIds) all.push({ callId, signalId: id })
    return all
  }

  /** All that is left to fold, but for the runs. */
  foldInto({ signals, reputation }: Pick<State, 'signals' | 'reputation'>): {
    readonly signals: SignalsState
    readonly reputation: ReputationState
  } {
    const calls = callsAfterJoining(reputation.calls, this.#joiningOf(reputation.calls))
    const trails = afterSeen(signals.trails, this.#seen)
    const latest = this.foldLatest(signals.latest)
    this.#joining.clear()
    this.#seen = []
    this.#seenOf.clear()
    this.#count = 0
    this.#attributions = 0
    const { contributors, producers, traces } = signals
    const { outcomes, overlaps, feedback } = reputation
    return {
      signals: { contributors, producers, latest, trails, traces },
      reputation: { calls, outcomes, overlaps, feedback },
    }
  }
}

/** A call that is joined stays as it is until the signals are folded: only who repeats whom may change at once. */
const afterJoining = (reputation: ReputationState, call: Call, now: Timestamp): ReputationState => {
  const { calls, outcomes, feedback } = reputation
  const overlaps = afterJoined(
    reputation.overlaps,
    call,
    msOf(now),
    (author) => outcomes.edges.get(author)?.sum ?? 0,
  )
  return overlaps === reputation.overlaps ? reputation : { calls, outcomes, overlaps, feedback }
}

/** No fold of reputation looks at more of the event. */
const afterAttribution = (
  reputation: ReputationState,
  payload: PayloadOf<'attribution.recorded.v1'>,
): ReputationState => evolveReputation(reputation, { type: 'attribution.recorded.v1', payload } as KnownEvent)
