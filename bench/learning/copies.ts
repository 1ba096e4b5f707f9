import { asKnown, type NewPayload } from '../../src/core/events/catalogue.ts'
import type { Stamped } from '../../src/core/log/event.ts'
import { authorKey } from '../../src/core/shared/author-key.ts'
import { nodeId } from '../../src/core/shared/brand.ts'
import type { State } from '../../src/core/state.ts'
import { COPYCATS, type AuthorPlan } from './population.ts'

/**
 * The state as if the copycats had never spoken: without their signals, their records and their pairs with others. Null
 * if there are none. Effects of their signals on trades remain.
 */
export const withoutCopycats = (state: State): State | null => {
  const ids = [...COPYCATS].flatMap((name) => state.signals.contributors.idOfNode.get(nodeId(name)) ?? [])
  if (ids.length === 0) return null
  const removed = new Set(ids)
  const keys = new Set(ids.map((id) => authorKey(id, '')))
  const { signals, reputation } = state
  const { outcomes, overlaps } = reputation
  return {
    ...state,
    signals: {
      ...signals,
      latest: {
        ...signals.latest,
        signals: signals.latest.signals.filter(
          ({ contributorId }) => contributorId === null || !removed.has(contributorId),
        ),
      },
    },
    reputation: {
      ...reputation,
      outcomes: { ...outcomes, edges: outcomes.edges.filter((_edge, author) => !keys.has(author)) },
      overlaps: {
        ...overlaps,
        repetitions: overlaps.repetitions.filter(
          (_repetition, pair) => !pair.split('\n').some((author) => keys.has(author)),
        ),
      },
    },
  }
}

/** Follows each trade to its profit, and shares the profit a second time as if the copycats had never spoken. */
export const createPaymaster = (plans: readonly AuthorPlan[]) => {
  const sharesOf = sharesAmong(plans)
  const wanted = new Map<string, Shares>()
  const held = new Map<string, Shares>()
  const paid = new Map<string, number>()
  const votes = new Map<string, number>()
  const votesWithout = new Map<string, number>()
  let decisions = 0
  let changed = 0

  return {
    paid,
    /** Sums of all shares, with and without copycats. */
    votes,
    votesWithout,
    /** Share of the decisions about a symbol that would have been different without copycats. */
    changedDecisions: (): number => (decisions === 0 ? 0 : changed / decisions),
    /** Takes a cycle, and the same cycle without copycats. */
    cycle: (events: readonly Stamped[], others: readonly Stamped[], countsVotes: boolean): void => {
      const otherwise = convictionsIn(others)
      for (const [symbol, conviction] of convictionsIn(events)) {
        const other = otherwise.get(symbol)
        decisions += 1
        if (conviction.decision.action !== other?.decision.action) changed += 1
        if (!countsVotes) continue
        addVotes(votes, conviction)
        if (other !== undefined) addVotes(votesWithout, other)
      }
      for (const event of events) {
        const known = asKnown(event)
        if (known?.type !== 'execution.trade_intent.v1') continue
        const conviction = otherwise.get(known.payload.symbol)
        if (conviction === undefined) throw new Error(`no conviction on ${known.payload.symbol}`)
        wanted.set(known.id, sharesOf(conviction, known.payload.direction === 'long' ? 1 : -1))
      }
    },
    see: (events: readonly Stamped[]): void => {
      for (const event of events) {
        const known = asKnown(event)
        if (known?.type === 'execution.position_opened.v1')
          held.set(known.payload.position_id, wanted.get(known.payload.intent_id) ?? [])
        if (known?.type !== 'karma.intent.v1') continue
        for (const { name, part } of held.get(known.payload.trade_id) ?? [])
          paid.set(name, (paid.get(name) ?? 0) + part * known.payload.karma_amount_usd)
      }
    },
  }
}

const addVotes = (votes: Map<string, number>, { inputs }: Conviction): void => {
  for (const { author, share } of inputs) votes.set(author, (votes.get(author) ?? 0) + share)
}

/** Computes how a profit on one side is shared among its supporters. */
const sharesAmong = (plans: readonly AuthorPlan[]) => {
  const contributors = new Set(plans.flatMap(({ name, role }) => (role === 'contributor' ? name : [])))
  return ({ inputs }: Conviction, side: Side): Shares => {
    const supporters = inputs.filter(
      ({ author, contribution }) => contributors.has(author) && contribution * side > 0,
    )
    const all = supporters.reduce((sum, { contribution }) => sum + contribution, 0)
    return supporters.map(({ author, contribution }) => ({ name: author, part: contribution / all }))
  }
}

/**
 * Profits by cycle, symbol and side, and the shares of any profit there: for sharing the profits of one life by the
 * votes of another.
 */
export interface Books {
  readonly profits: readonly (readonly [place: string, usd: number])[]
  readonly shares: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export const createBookkeeper = (plans: readonly AuthorPlan[]) => {
  const sharesOf = sharesAmong(plans)
  const shares: Record<string, Record<string, number>> = {}
  const profits: [string, number][] = []
  const wanted = new Map<string, string>()
  const held = new Map<string, string>()
  return {
    books: { profits, shares } satisfies Books,
    cycle: (cycle: number, events: readonly Stamped[]): void => {
      for (const [symbol, conviction] of convictionsIn(events))
        for (const side of [1, -1] as const)
          shares[placeOf(cycle, symbol, side)] = Object.fromEntries(
            sharesOf(conviction, side).map(({ name, part }) => [name, part]),
          )
      for (const event of events) {
        const known = asKnown(event)
        if (known?.type !== 'execution.trade_intent.v1') continue
        const { symbol, direction } = known.payload
        wanted.set(known.id, placeOf(cycle, symbol, direction === 'long' ? 1 : -1))
      }
    },
    see: (events: readonly Stamped[]): void => {
      for (const event of events) {
        const known = asKnown(event)
        if (known?.type === 'execution.position_opened.v1')
          held.set(known.payload.position_id, wanted.get(known.payload.intent_id) ?? '')
        if (known?.type === 'karma.intent.v1')
          profits.push([held.get(known.payload.trade_id) ?? '', known.payload.karma_amount_usd])
      }
    },
  }
}

const placeOf = (cycle: number, symbol: string, side: Side): string => `${cycle} ${symbol} ${side}`

/** Bar of the cycle. */
export const barOf = (place: string): number => Number.parseInt(place, 10)

type Side = 1 | -1
type Shares = readonly { readonly name: string; readonly part: number }[]
type Conviction = NewPayload<'brain.conviction.v1'>

const convictionsIn = (events: readonly Stamped[]): ReadonlyMap<string, Conviction> =>
  new Map(
    events.flatMap((event) => {
      const known = asKnown(event)
      return known?.type === 'brain.conviction.v1' ? [[known.payload.symbol, known.payload] as const] : []
    }),
  )
