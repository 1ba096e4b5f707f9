import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { EventItem } from '../api/types.ts'
import type { Live, LiveState } from './live.ts'

export const LiveContext = createContext<Live | null>(null)

const useLiveStore = (): Live => {
  const live = useContext(LiveContext)
  if (live === null) throw new Error('there is no live line around this component')
  return live
}

/** Changes with every batch of events: for small components only. Prefer `useLineStatus`. */
export const useLiveState = (): LiveState => {
  const live = useLiveStore()
  return useSyncExternalStore(live.onState, live.state)
}

export const useLineStatus = (): LiveState['status'] => {
  const live = useLiveStore()
  return useSyncExternalStore(live.onState, () => live.state().status)
}

/** Calls with every batch of events that pass. The function may change from render to render. */
export const useEvents = (onEvents: (events: readonly EventItem[]) => void): void => {
  const live = useLiveStore()
  const latest = useRef(onEvents)
  useEffect(() => {
    latest.current = onEvents
  })
  useEffect(() => live.onEvents((events) => latest.current(events)), [live])
}

const NO_EVENTS: readonly EventItem[] = []

/**
 * The newest events that pass, newest first: `older` (what a query gave) and behind it what the stream told since.
 * Bounded, and without doubles.
 */
export const useRecentEvents = (
  accepts: (event: EventItem) => boolean,
  {
    older = NO_EVENTS,
    limit = 200,
  }: { readonly older?: readonly EventItem[] | undefined; readonly limit?: number } = {},
): readonly EventItem[] => {
  const live = useLiveStore()
  const [told, setTold] = useState<readonly EventItem[]>(() => live.recent().filter(accepts).toReversed())
  useEvents((events) => {
    const fresh = events.filter(accepts).toReversed()
    if (fresh.length > 0) setTold((known) => [...fresh, ...known].slice(0, limit))
  })
  const ids = new Set(told.map(({ id }) => id))
  return [...told.filter(accepts), ...older.filter(({ id }) => !ids.has(id))].slice(0, limit)
}
