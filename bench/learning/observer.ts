import { nodeId, timestampOf } from '../../src/core/shared/brand.ts'
import type { Configuration } from '../../src/core/config/schema.ts'
import { scoreAt } from '../../src/core/reputation/contributor-score.ts'
import { activeByNode } from '../../src/core/signals/contributors.ts'
import { asKnown, type NewPayload } from '../../src/core/events/catalogue.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { NEWCOMER } from '../../src/core/reputation/contribution.ts'
import { contributionsIn } from '../../src/core/reputation/evolve.ts'
import { reputationAt } from '../../src/core/reputation/author-reputation.ts'
import type { State } from '../../src/core/state.ts'
import { authorKey } from '../../src/core/shared/author-key.ts'
import { STEADY, TURNING, type AuthorPlan } from './population.ts'

export interface AuthorSeen {
  readonly name: string
  /** Number of signals, and how many of them were right about the next day, however the engine judged them. */
  readonly words: number
  readonly right: number
  readonly resolved: number
  /** Karma after a fixed number of resolved calls; null if that was not reached. */
  readonly karmaAfterCalls: number | null
  readonly karma: number
  readonly score: number | null
  /** Mean share of its domain in the last third of the cycles. */
  readonly share: number
  /** Mean share while it had 41 to 60 resolved calls. */
  readonly shareAfter60: number
  /** Amount that it was paid. */
  readonly money: number
}

/** An author from the middle of its life on. */
export interface SecondHalf {
  /** Mean share in the ten days before the middle. */
  readonly shareBefore: number
  /** Resolved calls of this half until the share of a day was half of `shareBefore`; null if that never happened. */
  readonly callsToHalf: number | null
  /** Mean share of a day, by resolved calls of this half. */
  readonly shares: readonly number[]
}

/** A tenth of the range of probabilities from a half to one. */
export interface ReliabilityBin {
  readonly count: number
  readonly probabilities: number
  readonly hits: number
  readonly squares: number
}

export interface Observed {
  readonly authors: readonly AuthorSeen[]
  readonly trades: number
  readonly wins: number
  /** Authors `TURNING`, which turns bad, and `STEADY`, which was as good and stays so. */
  readonly turned: SecondHalf
  readonly steady: SecondHalf
  readonly engineBins: readonly ReliabilityBin[]
  readonly authorBins: readonly ReliabilityBin[]
}

const CALLS_COUNTED = 200
const BINS = 10
const DAY_CYCLES = 6

export type Observer = ReturnType<typeof createObserver>

/** Observes a life without changing it. */
export const createObserver = (plans: readonly AuthorPlan[], configuration: Configuration) => {
  const words = new Map(plans.map(({ name }) => [name, { words: 0, right: 0, resolved: 0 }]))
  const karmas = new Map<string, number>()
  const money = new Map<string, number>()
  const sharesAfter60 = new Map<string, number[]>(plans.map(({ name }) => [name, []]))
  const shares = new Map<string, number[]>(plans.map(({ name }) => [name, []]))
  const engineBins = emptyBins()
  const authorBins = emptyBins()
  let trades = 0
  let wins = 0
  const halves = new Map<string, Half>()

  const dayShare = (name: string, cycles = DAY_CYCLES): number =>
    mean((shares.get(name) ?? []).slice(-cycles))

  const resolved = (verdict: NewPayload<'attribution.resolved.v1'>, state: State, at: string): void => {
    if (verdict.hit === null) return
    const seen = words.get(verdict.producer_id)
    const plan = plans.find(({ name }) => name === verdict.producer_id)
    if (seen === undefined || plan === undefined) return
    seen.resolved += 1
    if (seen.resolved === CALLS_COUNTED) {
      karmas.set(
        plan.name,
        reputationAt(state.reputation.outcomes, keyOf(state, plan), timestampOf(at), configuration.karma),
      )
    }
    if (verdict.resolved_by === 'horizon') count(authorBins, verdict.probability, verdict.hit)
    const half = halves.get(plan.name)
    if (half?.calls.has(verdict.call_id) !== true) return
    const share = dayShare(plan.name)
    half.shares.push(share)
    if (half.callsToHalf === null && share <= half.shareBefore / 2) half.callsToHalf = half.shares.length
  }

  const begun = ({ producer_id: author, call_id: call }: NewPayload<'attribution.recorded.v1'>): void => {
    if (typeof call === 'string') halves.get(author)?.calls.add(call)
  }

  const paid = ({ contributors, karma_amount_usd: amount }: NewPayload<'karma.intent.v1'>): void => {
    for (const { node_id: name, share } of contributors)
      money.set(name, (money.get(name) ?? 0) + share * amount)
  }

  return {
    seen: (name: string, isRight: boolean): void => {
      const seen = words.get(name)
      if (seen === undefined) return
      seen.words += 1
      if (isRight) seen.right += 1
    },
    see: (events: readonly Stamped[], state: State): void => {
      for (const event of events) {
        const known = asKnown(event)
        if (known?.type === 'attribution.recorded.v1') begun(known.payload)
        if (known?.type === 'attribution.resolved.v1') resolved(known.payload, state, known.ts)
        if (known?.type === 'karma.intent.v1') paid(known.payload)
        if (known?.type !== 'execution.position_closed.v1') continue
        trades += 1
        if (known.payload.realized_pnl > 0) wins += 1
      }
    },
    convictions: (events: readonly Stamped[], moveOf: (symbol: string) => 1 | -1): void => {
      const sums = new Map<string, number>()
      let symbols = 0
      for (const event of events) {
        const known = asKnown(event)
        if (known?.type !== 'brain.conviction.v1') continue
        symbols += 1
        const { inputs, final_score: final, direction, symbol } = known.payload
        for (const { author, share } of inputs) sums.set(author, (sums.get(author) ?? 0) + share)
        if (direction === 'neutral') continue
        const side = direction === 'long' ? 1 : -1
        count(engineBins, Math.max(final, 100 - final) / 100, moveOf(symbol) === side)
      }
      for (const [name, list] of shares) {
        const share = (sums.get(name) ?? 0) / Math.max(1, symbols)
        list.push(share)
        const resolvedSoFar = words.get(name)?.resolved ?? 0
        if (resolvedSoFar > 40 && resolvedSoFar <= 60) sharesAfter60.get(name)?.push(share)
      }
    },
    /** Starts counting the second half. */
    turn: (): void => {
      for (const name of [TURNING, STEADY]) {
        const shareBefore = dayShare(name, 10 * DAY_CYCLES)
        halves.set(name, { shareBefore, callsToHalf: null, shares: [], calls: new Set() })
      }
    },
    observed: (state: State, at: string): Observed => {
      const contributions = contributionsIn(state.reputation, configuration.karma.influence)
      return {
        authors: plans.map((plan) => {
          const seen = words.get(plan.name) ?? { words: 0, right: 0, resolved: 0 }
          const contributor =
            plan.role === 'contributor' ? activeByNode(state.signals.contributors, nodeId(plan.name)) : null
          const list = shares.get(plan.name) ?? []
          return {
            name: plan.name,
            ...seen,
            karmaAfterCalls: karmas.get(plan.name) ?? null,
            karma: reputationAt(
              state.reputation.outcomes,
              keyOf(state, plan),
              timestampOf(at),
              configuration.karma,
            ),
            score:
              contributor === null
                ? null
                : scoreAt(
                    contributor.record,
                    contributions.get(keyOf(state, plan)) ?? NEWCOMER,
                    timestampOf(at),
                    configuration.karma,
                  ).score,
            share: mean(list.slice(-Math.floor(list.length / 3))),
            shareAfter60: mean(sharesAfter60.get(plan.name) ?? []),
            money: money.get(plan.name) ?? 0,
          }
        }),
        trades,
        wins,
        turned: halfOf(halves.get(TURNING)),
        steady: halfOf(halves.get(STEADY)),
        engineBins,
        authorBins,
      }
    },
  }
}

const keyOf = (state: State, { name, role }: AuthorPlan): string =>
  authorKey(
    role === 'contributor' ? (activeByNode(state.signals.contributors, nodeId(name))?.id ?? null) : null,
    name,
  )

interface Half extends SecondHalf {
  callsToHalf: number | null
  readonly shares: number[]
  /** Calls that were opened in this half. Earlier calls may resolve in it. */
  readonly calls: Set<string>
}

const halfOf = (half: Half | undefined): SecondHalf => {
  if (half === undefined) throw new Error('this life had no second half')
  const { shareBefore, callsToHalf, shares } = half
  return { shareBefore, callsToHalf, shares }
}

type Bin = { -readonly [Member in keyof ReliabilityBin]: number }

const emptyBins = (): Bin[] =>
  Array.from({ length: BINS }, () => ({ count: 0, probabilities: 0, hits: 0, squares: 0 }))

const count = (bins: readonly Bin[], probability: number, hit: boolean): void => {
  const bin = bins[Math.min(BINS - 1, Math.floor((probability - 0.5) * 2 * BINS))]
  if (bin === undefined) return
  bin.count += 1
  bin.probabilities += probability
  bin.hits += hit ? 1 : 0
  bin.squares += (probability - (hit ? 1 : 0)) ** 2
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
