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
}

/** By contributor node id for attributed signals, else by source. */
export type Trails = PersistentMap<string, Trail>

export const INITIAL_TRAILS: Trails = PersistentMap()

export const DAYS_KEPT = 91
export const CONTRIBUTORS_KEPT = 100

export const evolveTrails = (trails: Trails, event: KnownEvent): Trails => {
  if (event.type === 'attribution.recorded.v1') {
    const { node_id: nodeId, contributor_id: contributorId, received_at: at } = event.payload
    return nodeId === null ? trails : trails.update(nodeId, (trail) => extended(trail, at, contributorId))
  }
  // A curator signal is counted with its attribution, whatever it says its source is.
  if (!isSignal(event) || event.type === CURATOR_TYPE || event.source === null) return trails
  return trails.update(event.source, (trail) => extended(trail, event.recordedAt, null))
}

export const signalsWithin = ({ days }: Trail, asOf: string, windowDays: number): number => {
  const from = dayOf(new Date(Date.parse(asOf) - windowDays * DAY_MS).toISOString())
  return Object.entries(days).reduce((sum, [day, count]) => (day > from ? sum + count : sum), 0)
}

const extended = (trail: Trail | undefined, at: string, contributorId: string | null): Trail => {
  const day = dayOf(at)
  const known = trail?.contributorIds ?? []
  const days = { ...trail?.days, [day]: (trail?.days[day] ?? 0) + 1 }
  return {
    signals: (trail?.signals ?? 0) + 1,
    contributorIds:
      contributorId === null || known.includes(contributorId)
        ? known
        : [...known, contributorId].slice(-CONTRIBUTORS_KEPT),
    firstSeen: trail?.firstSeen ?? at,
    lastSeen: at,
    days: newestDays(days),
  }
}

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
