import { useQuery, type QueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { queries, type Resource } from '../api/queries.ts'
import type { EventFilter, EventItem } from '../api/types.ts'
import { useNow } from '../ui/time.tsx'
import { connect, type TabStream } from './connect.ts'
import type { StreamStatus } from './stream.ts'

/** `silent`: the connection is open, but nothing arrives. The service sends something every 15 s. */
export type ConnectionStatus = StreamStatus | 'silent'

/** Silence after which nothing on the page counts as current. */
const SILENT_MS = 20_000
const SILENCE_CHECK_MS = 1000

/** Resources that an event makes stale, by the start of its type. The longest match decides. */
const STALE_BY: Readonly<Record<string, readonly Resource[]>> = {
  alert: ['alerts'],
  'attribution.measured': ['authors', 'attribution', 'scores', 'provenance'],
  'attribution.recorded': ['attribution', 'scores', 'provenance'],
  'attribution.resolved': ['authors', 'attribution', 'scores', 'provenance'],
  'brain.conviction': ['explanation'],
  'brain.cycle': ['brain-status', 'regime', 'explanation', 'intents', 'attribution', 'scores', 'authors'],
  'brain.regime_change': ['brain-status', 'regime'],
  contributor: ['authors', 'contributors', 'scores'],
  execution: ['portfolio', 'equity', 'positions', 'orders', 'intents', 'attribution', 'live'],
  karma: ['karma', 'scores'],
  learning: ['authors', 'learning', 'brain-status', 'producers'],
  'market.bar': ['portfolio', 'positions'],
  producer: ['producers'],
  'system.alerts_acknowledged': ['alerts'],
  'system.config_changed': ['config', 'portfolio', 'karma', 'live'],
  'system.kill_switch': ['brain-status', 'kill-switch', 'live'],
  'system.started': ['health', 'config'],
}

export const staleBy = (type: string): readonly Resource[] => {
  const segments = type.split('.')
  for (let count = segments.length; count > 0; count -= 1) {
    const stale = STALE_BY[segments.slice(0, count).join('.')]
    if (stale !== undefined) return stale
  }
  return []
}

/** Minimum interval between two fetches of one resource, however many events make it stale. */
const REFRESH_MS_MIN = 1000
const RECENT_MAX = 500

type OnEvents = (events: readonly EventItem[]) => void

/** The events since the page was loaded. Refreshes stale queries and passes batches of events on to components. */
export class Live {
  #status: ConnectionStatus = 'connecting'
  #streamStatus: StreamStatus = 'connecting'
  #receivedAt: ClockReading | null = null
  #count = 0
  #recent: readonly EventItem[] = []
  #pending: EventItem[] = []
  #isFlushScheduled = false
  readonly #client: QueryClient
  readonly #onChange = new Set<() => void>()
  readonly #onEvents = new Set<OnEvents>()
  readonly #stale = new Set<Resource>()
  readonly #refreshedAtMs = new Map<Resource, number>()
  #refreshTimer: ReturnType<typeof setTimeout> | null = null
  #hasBeenLive = false
  #stream: TabStream | null = null

  constructor(client: QueryClient) {
    this.#client = client
  }

  /** Resolves when the position in the log is known. Queries after that miss no event. */
  start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    setInterval(() => this.#checkStatus(), SILENCE_CHECK_MS)
    document.addEventListener('visibilitychange', () => this.#checkStatus())
    this.#stream = connect({
      onPosition: resolve,
      onReceived: (msAgo) => {
        this.#receivedAt = clocksBefore(msAgo)
        this.#checkStatus()
      },
      onEvents: (events) => {
        this.#pending.push(...events)
        this.#scheduleFlush()
      },
      onStatus: (status) => {
        const isBack = status === 'live' && this.#streamStatus !== 'live'
        this.#streamStatus = status
        this.#checkStatus()
        if (isBack) this.#refreshAll()
      },
    })
    return promise
  }

  /** Called when a request got 401. An open stream does not notice the end of its session by itself. */
  readonly checkSession = (): void => {
    if (this.#streamStatus === 'live') this.#stream?.reconnect()
  }

  /** Time since the service last sent anything; null before that. */
  readonly silenceMs = (): number | null => (this.#receivedAt === null ? null : msSince(this.#receivedAt))

  readonly status = (): ConnectionStatus => this.#status

  /** Number of events since the page was loaded. */
  readonly count = (): number => this.#count

  /** The recent events, newest last, up to a limit. */
  readonly recent = (): readonly EventItem[] => this.#recent

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#onChange.add(onChange)
    return () => this.#onChange.delete(onChange)
  }

  /** Calls the listener with batches of events, at most once per frame. */
  readonly subscribeToEvents = (onEvents: OnEvents): (() => void) => {
    this.#onEvents.add(onEvents)
    return () => this.#onEvents.delete(onEvents)
  }

  #checkStatus(): void {
    const isSilent = this.#streamStatus === 'live' && (this.silenceMs() ?? 0) >= SILENT_MS
    const status = isSilent ? 'silent' : this.#streamStatus
    if (status === this.#status) return
    this.#status = status
    for (const onChange of this.#onChange) onChange()
  }

  /** Refreshes everything. After an interruption any resource may be stale, including those without events. */
  #refreshAll(): void {
    if (this.#hasBeenLive) this.#client.invalidateQueries().catch(ignoreFailedRefetch)
    this.#hasBeenLive = true
  }

  /** A hidden page draws no frames, but must still process events. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    if (document.hidden) setTimeout(() => this.#flush(), REFRESH_MS_MIN)
    else requestAnimationFrame(() => this.#flush())
  }

  #flush(): void {
    this.#isFlushScheduled = false
    const events = this.#pending
    this.#pending = []
    this.#recent = [...this.#recent, ...events].slice(-RECENT_MAX)
    this.#count += events.length
    for (const { type } of events) for (const resource of staleBy(type)) this.#stale.add(resource)
    for (const onChange of this.#onChange) onChange()
    for (const onEvents of this.#onEvents) onEvents(events)
    this.#refresh()
  }

  /**
   * Refreshes stale resources at once, except those that were refreshed a moment ago or are being fetched. A running
   * fetch may return an older state.
   */
  #refresh(): void {
    const nowMs = performance.now()
    for (const resource of this.#stale) {
      const queryKey = [resource]
      if (nowMs - (this.#refreshedAtMs.get(resource) ?? -Infinity) < REFRESH_MS_MIN) continue
      // If every event canceled it, a slow response would never arrive. The fetch is awaited, and then repeated.
      if (this.#client.isFetching({ queryKey }) > 0) continue
      this.#stale.delete(resource)
      this.#refreshedAtMs.set(resource, nowMs)
      this.#client.invalidateQueries({ queryKey }).catch(ignoreFailedRefetch)
    }
    if (this.#stale.size === 0 || this.#refreshTimer !== null) return
    this.#refreshTimer = setTimeout(() => {
      this.#refreshTimer = null
      this.#refresh()
    }, REFRESH_MS_MIN)
  }
}

interface ClockReading {
  readonly wallMs: number
  readonly monotonicMs: number
}

const clocksBefore = (msAgo: number): ClockReading => ({
  wallMs: Date.now() - msAgo,
  monotonicMs: performance.now() - msAgo,
})

/**
 * Time by the clock with the larger difference: one stands still while the computer sleeps, the other can be set back.
 */
const msSince = ({ wallMs, monotonicMs }: ClockReading): number =>
  Math.max(Date.now() - wallMs, performance.now() - monotonicMs)

/** Ignored here: the panel that reads the resource shows the error. */
const ignoreFailedRefetch = (): void => undefined

export const LiveContext = createContext<Live | null>(null)

const useLive = (): Live => {
  const live = useContext(LiveContext)
  if (live === null) throw new Error('no LiveContext around this component')
  return live
}

export const useConnectionStatus = (): ConnectionStatus => {
  const live = useLive()
  return useSyncExternalStore(live.subscribe, live.status)
}

/** Whole seconds since the service last sent anything, if it is too long; else null. */
export const useSilenceSeconds = (): number | null => {
  const live = useLive()
  const seconds = useNow(() => {
    const silenceMs = live.silenceMs() ?? 0
    return silenceMs < SILENT_MS ? 0 : Math.floor(silenceMs / 1000)
  })
  return seconds === 0 ? null : seconds
}

/** The number of events. It changes with every batch, so use it in small components only. */
export const useEventCount = (): number => {
  const live = useLive()
  return useSyncExternalStore(live.subscribe, live.count)
}

/** Events of a type, newest first: the response of the API, continued by the stream. */
export const useEventList = (
  filter: EventFilter & { readonly limit: number },
  accepts: (event: EventItem) => boolean = () => true,
) => {
  const query = useQuery(queries.events(filter))
  const { type, limit } = filter
  const events = useRecentEvents(
    (event) => (type === undefined || event.type.startsWith(`${type}.`)) && accepts(event),
    { older: query.data?.items, limit },
  )
  return { query, events }
}

interface RecentEventsOptions {
  /** Events that a query returned. The stream continues them. */
  readonly older?: readonly EventItem[] | undefined
  readonly limit?: number
}

/** The newest accepted events, newest first, without duplicates. */
export const useRecentEvents = (
  accepts: (event: EventItem) => boolean,
  { older = [], limit = 200 }: RecentEventsOptions = {},
): readonly EventItem[] => {
  const live = useLive()
  const [streamed, setStreamed] = useState(() => newestFirst(live.recent().filter(accepts), limit))
  // The function may change from render to render.
  const latest = useRef(accepts)
  useEffect(() => {
    latest.current = accepts
  })
  useEffect(() => {
    const add: OnEvents = (events) => {
      const fresh = events.filter((event) => latest.current(event))
      if (fresh.length > 0) setStreamed((known) => newestFirst([...known, ...fresh], limit))
    }
    // Adds the events that arrived since the first render.
    add(live.recent())
    return live.subscribeToEvents(add)
  }, [live, limit])
  return newestFirst([...streamed.filter(accepts), ...older], limit)
}

/** Sorts events newest first and removes duplicates, in whatever order pages and stream deliver them. */
export const newestFirst = (events: readonly EventItem[], limit: number): readonly EventItem[] =>
  [...new Map(events.map((event) => [event.id, event])).values()]
    .toSorted((one, other) => other.seq - one.seq)
    .slice(0, limit)
