import type { DecisionContext } from '../shared/decision-context.ts'
import { BUILTIN_PRODUCERS } from '../signal-types/all.ts'
import { karmaByName } from './author-reputation.ts'
import { r9 } from '../shared/numbers.ts'
import type { ReputationFacts } from './evolve.ts'

/** More would not fit into a report. */
const NAMES_MAX = 400

/** Karma of everyone who may speak as a producer, by name. */
export const producerScoresOf = (
  { signals: { producers }, reputation: { outcomes } }: ReputationFacts,
  { now, configuration }: DecisionContext,
): Record<string, number> => {
  const names = [...Object.keys(BUILTIN_PRODUCERS), ...producers.registered.keys()].toSorted()
  const scores = karmaByName(outcomes, names.slice(0, NAMES_MAX), now, configuration.karma)
  return Object.fromEntries(Object.entries(scores).map(([name, karma]) => [name, r9(karma)]))
}
