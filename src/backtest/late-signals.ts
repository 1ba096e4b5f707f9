import type { StoredSignal } from '../core/events/catalogue.ts'
import { afterJoining, type Call, type Joining } from '../core/reputation/calls.ts'
import type { ReputationFacts, ReputationState } from '../core/reputation/evolve.ts'
import { callJoinedBy } from '../core/reputation/open-call.ts'
import { afterJoined, type Overlaps } from '../core/reputation/overlaps.ts'
import { signalId, type Timestamp } from '../core/shared/brand.ts'
import type { DecisionContext } from '../core/shared/decision-context.ts'
import { DAY_MS, msOf } from '../core/shared/time.ts'
import { weightedTypeOf } from '../core/signal-types/all.ts'
import { priceWs } from '../core/signal-types/price-ws.ts'
import type { SignalsState } from '../core/signals/evolve.ts'
import { evolveLatestSignals, type LatestSignals } from '../core/signals/latest-signals.ts'
import { rowFaultOf, type Row } from '../core/signals/producer-runs.ts'
import { builtinOf } from '../core/signals/producers.ts'
import { afterSeen, type SignalsSeen } from '../core/signals/trails.ts'
import type { State } from '../core/state.ts'

type GrowingSeen = { -readonly [Member in keyof SignalsSeen]: SignalsSeen[Member] } & { readonly day: number }

/**
 * Signals of built-in producers that join open calls, which is what most of them do: nothing follows from them. What they
 * leave in memory is folded when somebody reads it: a cycle only the newest of each kind.
 */
export class LateSignals {
  /** By type, producer and symbol: the older ones are never read. */
  readonly #newest = new Map<string, StoredSignal>()
  #joining: Joining[] = []
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

  /** Takes the signals of a run and returns who repeats whom now. Null, and nothing is changed, if more follows from them. */
  take(
    name: string,
    rows: readonly Row[],
    facts: ReputationFacts,
    context: DecisionContext,
  ): Overlaps | null {
    const domain = builtinOf(name)?.domain
    const { now, configuration } = context
    if (domain === undefined || facts.signals.latest.signals.size === 0) return null
    const rules = { now, skewSecondsMax: configuration.signals.max_future_skew_seconds, domain }
    const calls: (Call | null)[] = []
    for (const row of rows) {
      const { type, payload, ts } = row
      if (ts !== now || type === priceWs.type || rowFaultOf(row, rules) !== null) return null
      const isWeighted = weightedTypeOf(type) !== undefined
      const signal = { type, payload, contributorId: null, producerId: name, at: now }
      const call = isWeighted ? callJoinedBy(facts, signal, configuration) : null
      if (isWeighted && call === null) return null
      calls.push(call)
    }
    return this.#commit(name, rows, calls, facts, context)
  }

  #commit(
    name: string,
    rows: readonly Row[],
    calls: readonly (Call | null)[],
    { reputation: { overlaps: before, outcomes } }: ReputationFacts,
    { now, newId }: DecisionContext,
  ): Overlaps {
    let overlaps = before
    rows.forEach(({ type, payload }, index) => {
      const id = signalId(newId())
      this.#see(name, type, now)
      const call = calls[index] ?? null
      // One without weight is counted and stands nowhere else.
      if (call === null) return
      this.#newest.set(`${type}|${name}|${call.symbol}`, {
        seq: 0,
        id,
        type: type as StoredSignal['type'],
        ts: now,
        source: name,
        traceId: null,
        dedupeKey: null,
        payload,
        recordedAt: now,
      })
      this.#joining.push({ callId: call.id, signalId: id })
      overlaps = afterJoined(overlaps, call, msOf(now), (author) => outcomes.edges.get(author)?.sum ?? 0)
    })
    // The ids of attributions come after those of all signals of the run.
    const attributions = calls.filter((call) => call !== null).length
    this.#attributions += attributions
    this.#count += rows.length + attributions
    return overlaps
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

  /** All that is left to fold, but for the runs. */
  foldInto({ signals, reputation }: Pick<State, 'signals' | 'reputation'>): {
    readonly signals: SignalsState
    readonly reputation: ReputationState
  } {
    const calls = afterJoining(reputation.calls, this.#joining)
    const trails = afterSeen(signals.trails, this.#seen)
    const latest = this.foldLatest(signals.latest)
    this.#joining = []
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
