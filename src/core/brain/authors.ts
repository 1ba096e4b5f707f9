import type { Author, AuthorSignals } from './signal.ts'
import type { Configuration } from '../config/schema.ts'
import { linkedGroups } from '../signals/co-signals.ts'
import { scoreAt } from '../reputation/contributor-score.ts'
import { isBuiltin } from '../signals/producers.ts'
import { CHANCE_KARMA, karmaAt } from '../reputation/author-reputation.ts'
import { NO_RECENT_SKILL, trustOf } from '../reputation/recent-skill.ts'
import type { LatestSignal } from '../signals/latest-signals.ts'
import { authorKey } from '../shared/author-key.ts'
import { intervalMsOf } from '../shared/cron.ts'
import type { BrainFacts } from './evolve.ts'

/** A authorSignals, by what it put on the board. */
export interface AuthorWithLatest extends AuthorSignals {
  readonly said: readonly LatestSignal[]
}

/** What is on the board, by who says it and what that is worth now. */
export const authorsForCycle = (
  state: BrainFacts,
  now: string,
  configuration: Configuration,
): readonly AuthorWithLatest[] => {
  const groups = linkedGroups(state.signals.coSignals, configuration.brain.link, Date.parse(now))
  const ofProducers = new Map<string, LatestSignal[]>()
  const ofContributors = new Map<string, LatestSignal[]>()
  // All of the board passes here with every cycle: an iterator would cost twice as much.
  state.signals.latest.postings.forEach((signal) => {
    const { authorId, contributorId } = signal
    const words = contributorId === null ? ofProducers : ofContributors
    const own = words.get(contributorId ?? authorId)
    if (own === undefined) words.set(contributorId ?? authorId, [signal])
    else own.push(signal)
  })
  return [...ofProducers.values(), ...ofContributors.values()].flatMap((said) => {
    const author = authorOf(state, said[0] as LatestSignal, { now, configuration, groups })
    return author === null ? [] : [{ author, said }]
  })
}

interface Circumstances {
  readonly now: string
  readonly configuration: Configuration
  /** Contributors who act as one, by id. */
  readonly groups: ReadonlyMap<string, string>
}

/** Null for authors that may no longer speak: their history stays, their word does not. */
const authorOf = (state: BrainFacts, signal: LatestSignal, circumstances: Circumstances): Author | null => {
  const { authorId: id, contributorId } = signal
  const { now, configuration, groups } = circumstances
  const { karma: rules, learning } = configuration
  const key = authorKey(contributorId, id)
  const trust = learning.enabled
    ? trustOf(state.reputation.outcomes.form.get(key) ?? NO_RECENT_SKILL, rules)
    : 1
  if (contributorId !== null) {
    const contributor = state.signals.contributors.byId.get(contributorId)
    if (contributor === undefined || contributor.removed) return null
    const score = learning.enabled ? scoreAt(contributor.record, now, rules).score : 0
    return { kind: 'contributor', id, score, trust, groupId: groups.get(contributorId) ?? null }
  }
  const registered = state.signals.producers.registered.get(id)
  if (registered === undefined && !isBuiltin(id)) return null
  return {
    kind: registered === undefined ? 'builtin' : 'registered',
    id,
    karma: learning.enabled ? karmaAt(state.reputation.outcomes, key, now, rules) : CHANCE_KARMA,
    trust,
    intervalMs: registered === undefined ? null : intervalMsOf(registered.schedule),
    quarantined: state.signals.producers.runs.get(id)?.health === 'quarantined',
  }
}
