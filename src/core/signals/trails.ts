import { Map as PersistentMap } from 'immutable'
import { isSignal, type KnownEvent } from '../events/catalogue.ts'
import { CURATOR_TYPE } from '../events/signal.ts'
import { DAY_MS, dayOf } from '../vocabulary/time.ts'

/** What an author has said, as counters by day: enough for every window, however long the history. */
export interface Trail {
  readonly signals: number
  readonly contributorIds: readonly string[]
  readonly firstSeen: string
  readonly lastSeen: string
  /** Signals per UTC day, the newest `DAYS_KEPT` days that have any. */
  readonly days: Readonly<Record<string, number>>
  /** Types of signals, as far as they were seen without a contributor behind them. */
  readonly types: readonly string[]
}

/** A contributor and a producer may have the same name; each has a trail of its own. */
export interface Trails {
  /** Attributed signals, by the contributor's node id. */
  readonly byNode: PersistentMap<string, Trail>
  /** Other signals, by source. */
  readonly bySource: PersistentMap<string, Trail>
}

export const INITIAL_TRAILS: Trails = { byNode: PersistentMap(), bySource: PersistentMap() }

export const DAYS_KEPT = 91
export const CONTRIBUTORS_KEPT = 100
export const TYPES_KEPT = 20

/** A contributor's own signals, also after it was removed; else those of the source of that name. */
export const trailOf = ({ byNode, bySource }: Trails, name: string): Trail | null =>
  byNode.get(name) ?? bySource.get(name) ?? null

export const evolveTrails = (trails: Trails, event: KnownEvent): Trails => {
  if (event.type === 'attribution.recorded.v1') {
    const { node_id: nodeId, contributor_id: contributorId } = event.payload
    // Also for what is left of a damaged event: it says nothing, and must not keep anybody from starting.
    if (typeof nodeId !== 'string') return trails
    const byNode = trails.byNode.update(nodeId, (trail) =>
      extended(trail, event.recordedAt, { contributorId }),
    )
    return { ...trails, byNode }
  }
  // A curator signal is counted with its attribution, whatever it says its source is.
  if (!isSignal(event) || event.type === CURATOR_TYPE || event.source === null) return trails
  const { type, source, recordedAt } = event
  const bySource = trails.bySource.update(source, (trail) => extended(trail, recordedAt, { type }))
  return { ...trails, bySource }
}

export const signalsWithin = ({ days }: Trail, asOf: string, windowDays: number): number => {
  const from = dayOf(new Date(Date.parse(asOf) - windowDays * DAY_MS).toISOString())
  return Object.entries(days).reduce((sum, [day, count]) => (day > from ? sum + count : sum), 0)
}

interface Said {
  readonly contributorId?: string | null
  readonly type?: string
}

const extended = (trail: Trail | undefined, at: string, { contributorId, type }: Said): Trail => {
  const day = dayOf(at)
  return {
    signals: (trail?.signals ?? 0) + 1,
    contributorIds: including(trail?.contributorIds ?? [], contributorId, CONTRIBUTORS_KEPT),
    firstSeen: trail?.firstSeen ?? at,
    lastSeen: at,
    days: newestDays({ ...trail?.days, [day]: (trail?.days[day] ?? 0) + 1 }),
    types: including(trail?.types ?? [], type, TYPES_KEPT),
  }
}

const including = (
  known: readonly string[],
  item: string | null | undefined,
  countMax: number,
): readonly string[] =>
  item === null || item === undefined || known.includes(item) ? known : [...known, item].slice(-countMax)

const newestDays = (days: Readonly<Record<string, number>>): Readonly<Record<string, number>> => {
  const names = Object.keys(days)
  if (names.length <= DAYS_KEPT) return days
  return Object.fromEntries(
    names
      .sort()
      .slice(-DAYS_KEPT)
      .map((day) => [day, days[day] ?? 0]),
  )
}
