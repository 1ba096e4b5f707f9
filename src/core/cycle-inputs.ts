import type { CycleInputs } from './brain/cycle.ts'
import type { Holding } from './brain/decision.ts'
import type { ContributorOf } from './brain/intent-payload.ts'
import type { Author, Voice } from './brain/signal.ts'
import type { Configuration } from './config/schema.ts'
import { linkedGroups } from './contributors/links.ts'
import { scoreAt, type ScoreRules } from './contributors/score.ts'
import { weightsInForce } from './learning/learning.ts'
import type { Quote } from './market/market.ts'
import { dayFactsOf, markOf, type PriceTrust } from './market/readings.ts'
import type { Moment } from './moment.ts'
import { isLive } from './orders/intents.ts'
import { openPositionsOf } from './positions/book.ts'
import { isBuiltin } from './producers/producers.ts'
import { karmaAt, type KarmaRules } from './reputation/author-karma.ts'
import type { Posting } from './signals/board.ts'
import type { State } from './state.ts'
import { authorKey } from './vocabulary/author-key.ts'
import { intervalMsOf } from './vocabulary/cron.ts'

/** What the brain is handed of the other rooms: plain data, as of now. */
export const cycleInputsOf = (state: State, { now, configuration }: Moment): CycleInputs => {
  const trust = priceTrustOf(state, configuration)
  const groups = linkedGroups(state.links, configuration.brain.link, Date.parse(now))
  return {
    asOfMs: Date.parse(now),
    symbols: configuration.universe.symbols,
    voices: voicesOf(state, now, configuration.karma, groups),
    market: configuration.universe.symbols.map((symbol) => ({
      symbol,
      ...dayFactsOf(state.market, symbol),
      mark: markOf(state.market, symbol, Date.parse(now), trust)?.price ?? null,
    })),
    regimeBefore: state.mind.regime?.regime ?? null,
    killSwitchLevel: state.killSwitch.level,
    weights: weightsInForce(state.learning, configuration.weights).weights,
    holdings: holdingsOf(state),
    staleness: state.mind.staleness,
  }
}

/** Who is behind the signals on the board. Looked up only when a cycle wants a trade. */
export const contributorsOfSignals = ({ board }: State): ContributorOf => {
  let known: Map<string, { readonly contributorId: string; readonly nodeId: string }> | null = null
  return (signalId) => {
    if (known === null) {
      known = new Map()
      for (const { id, contributorId, authorId: nodeId } of board.postings.values()) {
        if (contributorId !== null) known.set(id, { contributorId, nodeId })
      }
    }
    return known.get(signalId) ?? null
  }
}

/** The price a decision may be made on; null when nobody told one lately. */
export const markNow = (state: State, symbol: string, { now, configuration }: Moment): Quote | null =>
  markOf(state.market, symbol, Date.parse(now), priceTrustOf(state, configuration))

/** Beside the feed, trusted names may tell prices; where there is no feed, every registered producer. */
export const priceTrustOf = (
  { producers, market: { quotes } }: State,
  { market }: Configuration,
): PriceTrust => ({
  maxAgeMs: market.max_mark_age_seconds * 1000,
  producers:
    market.feed === 'none' && quotes.size > 0
      ? [...new Set([...producers.registered.keys(), ...market.trusted_price_sources])]
      : market.trusted_price_sources,
})

/** What is open, and what may still open. */
const holdingsOf = (state: State): readonly Holding[] => [
  ...openPositionsOf(state).map(({ id, terms }) => ({
    kind: 'position' as const,
    id,
    symbol: terms.asset,
    side: terms.direction,
  })),
  ...[...state.intents.values()]
    .filter(({ status }) => isLive(status))
    .map(({ id, intent }) => ({
      kind: 'intent' as const,
      id,
      symbol: intent.symbol,
      side: intent.direction,
    })),
]

const voicesOf = (
  state: State,
  now: string,
  rules: KarmaRules & ScoreRules,
  groups: ReadonlyMap<string, string>,
): readonly Voice[] => {
  const ofProducers = new Map<string, Posting[]>()
  const ofContributors = new Map<string, Posting[]>()
  for (const posting of state.board.postings.values()) {
    const { authorId, contributorId } = posting
    const words = contributorId === null ? ofProducers : ofContributors
    const own = words.get(contributorId ?? authorId)
    if (own === undefined) words.set(contributorId ?? authorId, [posting])
    else own.push(posting)
  }
  return [...ofProducers.values(), ...ofContributors.values()].flatMap((said) => {
    const author = authorOf(state, said[0] as Posting, now, rules, groups)
    return author === null ? [] : [{ author, said }]
  })
}

/** Null for authors that may no longer speak: their history stays, their word does not. */
const authorOf = (
  { contributors, producers, outcomes }: State,
  posting: Posting,
  now: string,
  rules: KarmaRules & ScoreRules,
  groups: ReadonlyMap<string, string>,
): Author | null => {
  const { authorId: id, contributorId } = posting
  if (contributorId !== null) {
    const contributor = contributors.byId.get(contributorId)
    if (contributor === undefined || contributor.removed) return null
    return {
      kind: 'contributor',
      id,
      score: scoreAt(contributor.record, now, rules).score,
      groupId: groups.get(contributorId) ?? null,
    }
  }
  const registered = producers.registered.get(id)
  if (registered === undefined && !isBuiltin(id)) return null
  return {
    kind: registered === undefined ? 'builtin' : 'registered',
    id,
    karma: karmaAt(outcomes, authorKey(null, id), now, rules),
    intervalMs: registered === undefined ? null : intervalMsOf(registered.schedule),
    quarantined: producers.runs.get(id)?.health === 'quarantined',
  }
}
