import type { QueryClient } from '@tanstack/react-query'
import type { EventItem } from '../api/types.ts'
import type { Resource } from '../api/queries.ts'
import { type LineStatus, openStream, type Stream } from './stream.ts'

export interface LiveState {
  readonly status: LineStatus
  /** When the line last showed a sign of life; null before the first. Milliseconds since 1970. */
  readonly aliveAtMs: number | null
  /** Events since the page was loaded. */
  readonly count: number
}

/** How often one resource is asked for again at most, however many events make it old. */
const REFRESH_MS_MIN = 1000
const RECENT_MAX = 500

type Listener = () => void
type EventListener = (events: readonly EventItem[]) => void

/** What has happened since the page was loaded, and who wants to know. */
export class Live {
  #state: LiveState = { status: 'connecting', aliveAtMs: null, count: 0 }
  #recent: readonly EventItem[] = []
  #waiting: EventItem[] = []
  #isFrameAsked = false
  readonly #client: QueryClient
  readonly #stateListeners = new Set<Listener>()
  readonly #eventListeners = new Set<EventListener>()
  readonly #stale = new Set<Resource>()
  readonly #refreshedAtMs = new Map<Resource, number>()
  #refreshTimer: ReturnType<typeof setTimeout> | null = null
  #hasBeenLive = false
  #stream: Stream | null = null

  constructor(client: QueryClient) {
    this.#client = client
  }

  /** Resolves when it is known from where on events will be told: what is asked for after that misses nothing. */
  start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#stream = openStream({
      onBegin: resolve,
      onEvents: (events) => {
        this.#waiting.push(...events)
        this.#askFrame()
      },
      onStatus: (status) => this.#onStatus(status),
      onAlive: () => {
        // Told with the next change of state: nobody has to draw a sign of life.
        this.#state = { ...this.#state, aliveAtMs: Date.now() }
      },
    })
    return promise
  }

  /** An answer said that the session is over; the line may not have heard of it. */
  readonly doubtSession = (): void => {
    if (this.#state.status === 'live') this.#stream?.renew()
  }

  readonly state = (): LiveState => this.#state

  /** Newest last, bounded. */
  readonly recent = (): readonly EventItem[] => this.#recent

  readonly onState = (listener: Listener): (() => void) => {
    this.#stateListeners.add(listener)
    return () => this.#stateListeners.delete(listener)
  }

  /** Called with batches, at most once per frame. */
  readonly onEvents = (listener: EventListener): (() => void) => {
    this.#eventListeners.add(listener)
    return () => this.#eventListeners.delete(listener)
  }

  #onStatus(status: LineStatus): void {
    this.#setState({
      ...this.#state,
      status,
      aliveAtMs: status === 'live' ? Date.now() : this.#state.aliveAtMs,
    })
    // After a pause anything may be old, also what no event tells.
    if (status === 'live' && this.#hasBeenLive) this.#client.invalidateQueries().catch(reportQuietly)
    if (status === 'live') this.#hasBeenLive = true
  }

  /** A page in the background draws no frames, but has to keep up all the same. */
  #askFrame(): void {
    if (this.#isFrameAsked) return
    this.#isFrameAsked = true
    if (document.hidden) setTimeout(() => this.#flush(), REFRESH_MS_MIN)
    else requestAnimationFrame(() => this.#flush())
  }

  #flush(): void {
    this.#isFrameAsked = false
    const events = this.#waiting
    this.#waiting = []
    this.#recent = [...this.#recent, ...events].slice(-RECENT_MAX)
    for (const { type } of events) for (const resource of staleBy(type)) this.#stale.add(resource)
    this.#setState({ ...this.#state, count: this.#state.count + events.length })
    for (const listener of this.#eventListeners) listener(events)
    this.#refresh()
  }

  /** At once for what rests, later for what was refreshed a moment ago. */
  #refresh(): void {
    const nowMs = performance.now()
    for (const resource of this.#stale) {
      if (nowMs - (this.#refreshedAtMs.get(resource) ?? -Infinity) < REFRESH_MS_MIN) continue
      this.#stale.delete(resource)
      this.#refreshedAtMs.set(resource, nowMs)
      this.#client.invalidateQueries({ queryKey: [resource] }, { cancelRefetch: false }).catch(reportQuietly)
    }
    if (this.#stale.size === 0 || this.#refreshTimer !== null) return
    this.#refreshTimer = setTimeout(() => {
      this.#refreshTimer = null
      this.#refresh()
    }, REFRESH_MS_MIN)
  }

  #setState(state: LiveState): void {
    this.#state = state
    for (const listener of this.#stateListeners) listener()
  }
}

/** A refetch that fails is shown by the panel that asked. */
const reportQuietly = (): void => undefined

/** Which answers an event makes old, by the beginning of its type. The longest beginning decides. */
const STALE_BY: Readonly<Record<string, readonly Resource[]>> = {
  alert: [],
  'attribution.recorded': ['attribution', 'scores', 'provenance'],
  'attribution.resolved': ['attribution', 'scores', 'provenance'],
  'brain.conviction': ['explanation'],
  'brain.cycle': ['brain-status', 'explanation', 'intents', 'attribution', 'scores'],
  'brain.regime_change': ['brain-status', 'regime'],
  contributor: ['contributors', 'scores'],
  execution: ['portfolio', 'equity', 'positions', 'orders', 'intents', 'attribution', 'live'],
  karma: ['karma', 'scores'],
  learning: ['learning', 'brain-status', 'producers'],
  'market.bar': ['portfolio', 'positions'],
  producer: ['producers'],
  signal: ['signals'],
  system: [],
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
