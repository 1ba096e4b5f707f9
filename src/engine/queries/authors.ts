import { isSound } from '../../core/events/catalogue.ts'
import { stampedFrom, type LogRecord } from '../../core/log/event.ts'
import { payloadOf } from '../../core/log/payload.ts'
import { authorKey } from '../../core/shared/author-key.ts'
import { contributorId, nodeId, type ContributorId } from '../../core/shared/brand.ts'
import { activeById, activeByNode } from '../../core/signals/contributors.ts'
import type { State } from '../../core/state.ts'
import { viewAuthors, type AuthorsView } from '../../core/views/authors.ts'
import {
  viewContribution,
  type ContributionContext,
  type ContributionView,
  type JudgedCall,
} from '../../core/views/contribution.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { readPages } from '../read-pages.ts'
import { isKnownProducer } from './feedback.ts'

export type NamedAuthor =
  | { readonly kind: 'contributor'; readonly id: ContributorId }
  | { readonly kind: 'producer'; readonly name: string }

/** Finds an author by the node_id or id of a contributor, or by the name of a producer; null if there is none. */
export const namedAuthor = async (log: EventLog, state: State, name: string): Promise<NamedAuthor | null> => {
  const { contributors } = state.signals
  const found = activeByNode(contributors, nodeId(name)) ?? activeById(contributors, contributorId(name))
  if (found !== null) return { kind: 'contributor', id: found.id }
  return (await isKnownProducer(log, state, name)) ? { kind: 'producer', name } : null
}

const RESOLVED = 'attribution.resolved'
const JUDGED = [RESOLVED, 'attribution.measured']
/** Limit of calls, of one author or of all, that the calibration reads. */
const CALLS_MAX = 500
const PAGE = 500
const EXAMINED_MAX = 2000

/** Contribution of an author, with its latest calls from the log. */
export const contributionOf = async (
  log: EventLog,
  state: State,
  author: NamedAuthor,
  context: ContributionContext,
): Promise<ContributionView> => {
  const key = author.kind === 'contributor' ? authorKey(author.id, '') : authorKey(null, author.name)
  const isOwn = ({ payload }: JudgedCall): boolean =>
    authorKey(payload.contributor_id, payload.producer_id) === key
  const judged =
    author.kind === 'contributor'
      ? await newest(log, { about: author.id, types: JUDGED }, isOwn)
      : await newest(log, { types: JUDGED }, isOwn)
  return viewContribution(state, key, judged, context)
}

/** All authors, the calibration of their latest calls, and which authors agree. */
export const authorsOf = async (
  log: EventLog,
  state: State,
  limit: number,
  context: ContributionContext,
): Promise<AuthorsView> =>
  viewAuthors(state, await newest(log, { types: [RESOLVED] }, () => true), limit, context)

/** Latest calls first. Outcomes of producers have no index, so a limited number of all outcomes is examined. */
const newest = async (
  log: EventLog,
  query: { readonly types: readonly string[]; readonly about?: string },
  isWanted: (event: JudgedCall) => boolean,
): Promise<readonly JudgedCall[]> => {
  const found: JudgedCall[] = []
  let examined = 0
  for await (const page of readPages(log, { ...query, order: 'desc', limit: PAGE })) {
    found.push(...page.flatMap(judgedCalls).filter(isWanted))
    examined += page.length
    if (examined >= EXAMINED_MAX || found.length >= CALLS_MAX) break
  }
  return found.slice(0, CALLS_MAX)
}

/** Empty for a damaged record, which verification reports. */
const judgedCalls = (record: LogRecord): readonly JudgedCall[] => {
  if (payloadOf(record) === null) return []
  const event = stampedFrom(record)
  return isSound(event) ? [event as unknown as JudgedCall] : []
}
