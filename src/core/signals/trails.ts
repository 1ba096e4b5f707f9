import { nodeId, type ContributorId, type NodeId, type Timestamp } from '../shared/brand.ts'
import { Map as PersistentMap } from 'immutable'
import { isSignal, type KnownEvent } from '../events/catalogue.ts'
import { CURATOR_TYPE } from '../signal-types/curator.ts'
import { dayNumber } from '../shared/time.ts'

/** How often an author signals, as counters by day. The size does not grow with history. */
export interface Trail {
  readonly signals: number
  readonly contributorIds: readonly ContributorId[]
  readonly firstSeen: Timestamp
  readonly lastSeen: Timestamp
  /**
   * `[day, signals, day, signals, …]`, oldest first, of the last `DAYS_KEPT` UTC days.
   * Plain numbers, because there are thousands of authors.
   */
  readonly days: readonly number[]
  /** Types of signals, for sources other than contributors. */
  readonly types: readonly string[]
}

/** Trails by kind of author, because a contributor and a producer may have the same name. */
export interface Trails {
  /** Attributed signals, by the contributor's node id. */
  readonly byNode: PersistentMap<NodeId, Trail>
  /** Other signals, by source. */
  readonly bySource: PersistentMap<string, Trail>
}

export const INITIAL_TRAILS: Trails = { byNode: PersistentMap(), bySource: PersistentMap() }

export const DAYS_KEPT = 91
export const CONTRIBUTORS_KEPT = 100
export const TYPES_KEPT = 20

/** Trail of a contributor, even after its removal; otherwise that of the source with this name. */
export const trailOf = ({ byNode, bySource }: Trails, name: string): Trail | null =>
  byNode.get(nodeId(name)) ?? bySource.get(name) ?? null

export const evolveTrails = (trails: Trails, event: KnownEvent): Trails => {
  if (event.type === 'attribution.recorded.v1') {
    const { node_id: node, contributor_id: contributorId } = event.payload
    // `node` is null for producers, and absent from a damaged event.
    if (typeof node !== 'string') return trails
    const trail = extended(trails.byNode.get(node), event.recordedAt, { contributorId })
    return { byNode: trails.byNode.set(node, trail), bySource: trails.bySource }
  }
  // A curator signal is counted with its attribution, regardless of its source member.
  if (!isSignal(event) || event.type === CURATOR_TYPE || event.source === null) return trails
  const { type, source, recordedAt } = event
  const trail = extended(trails.bySource.get(source), recordedAt, { type })
  return { byNode: trails.byNode, bySource: trails.bySource.set(source, trail) }
}

export const signalsWithin = ({ days }: Trail, asOf: Timestamp, windowDays: number): number => {
  const from = dayNumber(asOf) - windowDays
  let sum = 0
  for (let index = 0; index < days.length; index += 2) {
    if ((days[index] ?? 0) > from) sum += days[index + 1] ?? 0
  }
  return sum
}

interface Seen {
  readonly contributorId?: ContributorId | null
  readonly type?: string
}

const extended = (trail: Trail | undefined, at: Timestamp, { contributorId, type }: Seen): Trail => ({
  signals: (trail?.signals ?? 0) + 1,
  contributorIds: including(trail?.contributorIds ?? [], contributorId, CONTRIBUTORS_KEPT),
  firstSeen: trail?.firstSeen ?? at,
  lastSeen: at,
  days: countedOn(trail?.days ?? [], dayNumber(at)),
  types: including(trail?.types ?? [], type, TYPES_KEPT),
})

const including = <Item extends string>(
  known: readonly Item[],
  item: Item | null | undefined,
  countMax: number,
): readonly Item[] =>
  item === null || item === undefined || known.includes(item) ? known : [...known, item].slice(-countMax)

/** Times of receipt never decrease, so the newest day is the last. */
const countedOn = (days: readonly number[], today: number): readonly number[] => {
  let first = 0
  while (first < days.length && (days[first] ?? 0) <= today - DAYS_KEPT) first += 2
  const counted = days.slice(first)
  const last = counted.length - 2
  if (counted[last] === today) counted[last + 1] = (counted[last + 1] ?? 0) + 1
  else counted.push(today, 1)
  return counted
}
