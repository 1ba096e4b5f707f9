import { boundReached } from '../../../core/shared/fair-share.ts'
import { UNSIGNED_TYPE } from '../../../core/operations/unsigned.ts'
import { yieldToEventLoop } from '../../../ports/yield-to-event-loop.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Committed } from '../../../engine/event-bus.ts'
import type { ConfigurationStore } from '../../../ports/config-file.ts'
import type { Logger } from '../../../ports/logger.ts'
import { SHUTTING_DOWN, tooManyClients } from '../errors.ts'
import type { Problem } from '../problems.ts'
import type { StreamConnection } from '../results.ts'
import { StreamClient } from './client.ts'
import { GOODBYE, readPage, RETRY, UNKNOWN_ID, type LogPage, type StreamFilter } from './frames.ts'
import { RecentEvents, type RecentEventsLimits } from './recent-events.ts'

export interface StreamDependencies {
  readonly engine: Engine
  readonly configuration: ConfigurationStore
  readonly logger: Logger
  /** Whether requests wait for their turn: each is answered before past events are sent. */
  readonly requestsWait: () => boolean
}

export interface StreamLimits extends RecentEventsLimits {
  /** Time to serve clients before the event loop runs. */
  readonly sliceMs: number
  /** Interval of the connection checks: keep-alive, tokens, stuck clients. */
  readonly checkMs: number
  /** Time after which a client that reads nothing is disconnected. */
  readonly stuckMsMax: number
  /** Events that are read from the log at once. */
  readonly pageEvents: number
  /** How long a slice of past events waits at most for requests that wait for their turn. */
  readonly requestsMsMax: number
  /** Pages of the log are kept for other clients while some are behind. */
  readonly pageBytesMax: number
}

const STREAM_LIMITS: StreamLimits = {
  sliceMs: 1,
  checkMs: 500,
  stuckMsMax: 60_000,
  recentEventsMax: 65_536,
  recentBytesMax: 64 * 1024 * 1024,
  writeBytesMax: 256 * 1024,
  pageEvents: 100,
  requestsMsMax: 20,
  pageBytesMax: 16 * 1024 * 1024,
}

export interface StreamRequest {
  readonly start: StreamStart
  readonly filter: StreamFilter
}

/** Position at which a client starts to read. */
export type StreamStart =
  | { readonly kind: 'after'; readonly seq: number }
  /** Sends new events only. */
  | { readonly kind: 'now'; readonly because: 'nothing-asked' | 'unknown-id' }

/** All stream clients. The engine publishes stored events and never waits for a client. */
export class StreamHub {
  readonly #dependencies: StreamDependencies
  readonly #limits: StreamLimits
  readonly #clients = new Set<StreamClient>()
  /** Null while no client is connected: no events are kept in memory then. */
  #session: { readonly recent: RecentEvents; readonly stop: () => void } | null = null
  #isDelivering = false
  /** Clients for which something changed since the delivery under way began; null for all of them. */
  #due: Set<StreamClient> | null = new Set()
  readonly #behind = new Set<StreamClient>()
  #isCatchingUp = false
  /** Newest last. */
  #pages: readonly LogPage[] = []
  #checkedConfiguration: unknown
  #isClosed = false

  constructor(dependencies: StreamDependencies, limits: Partial<StreamLimits> = {}) {
    this.#dependencies = dependencies
    this.#limits = { ...STREAM_LIMITS, ...limits }
  }

  get size(): number {
    return this.#clients.size
  }

  /** Takes the connection over, or returns the reason for not doing so and leaves it untouched. */
  open(connection: StreamConnection, { start, filter }: StreamRequest): Problem | null {
    if (this.#isClosed) return SHUTTING_DOWN
    const { max_clients: clientsMax } = this.#dependencies.configuration.current().stream
    const bound = boundReached(clientsMax, ownersOf(this.#clients), connection.holder)
    if (bound !== null) return tooManyClients(bound)
    this.#session ??= this.#begin()
    const cursor = start.kind === 'now' ? this.#session.recent.newest : start.seq
    const client = new StreamClient(connection, filter, cursor, () => this.#deliverSoon(client))
    this.#clients.add(client)
    connection.onClosed(() => {
      client.cut()
      this.#remove(client)
    })
    const isUnknown = start.kind === 'now' && start.because === 'unknown-id'
    connection.begin(STREAM_HEADERS, isUnknown ? Buffer.concat([RETRY, UNKNOWN_ID]) : RETRY)
    this.#deliverSoon(client)
    return null
  }

  /** Sends clients the remaining events and the time to reconnect, and ends all streams. */
  close(): void {
    this.#isClosed = true
    for (const client of this.#clients) {
      const recent = this.#session?.recent
      const isAhead = recent === undefined || client.cursor >= recent.newest
      const isBehind = recent !== undefined && client.cursor + 1 < recent.oldest
      const rest = isAhead || isBehind ? [] : [recent.chunkAfter(client.cursor, client.filter).bytes]
      client.end(Buffer.concat([...rest, GOODBYE]))
      this.#remove(client)
    }
  }

  #begin(): { readonly recent: RecentEvents; readonly stop: () => void } {
    const { engine } = this.#dependencies
    // The next published event is the one after the engine's head.
    const recent = new RecentEvents(engine.head.seq, this.#limits)
    const unsubscribe = engine.eventBus.subscribe((committed) => this.#publish(recent, committed))
    const check = setInterval(() => this.#check(), this.#limits.checkMs)
    const stop = (): void => {
      unsubscribe()
      clearInterval(check)
    }
    return { recent, stop }
  }

  #publish(recent: RecentEvents, { records, events }: Committed): void {
    const next = records[0]?.seq
    if (next !== undefined && next !== recent.newest + 1) {
      const fields = { published: next, expected: recent.newest + 1 }
      this.#dependencies.logger.error('the event bus skipped events; all streams were ended', fields)
      // Clients that reconnect start in the log, which has every event.
      for (const client of this.#clients) this.#disconnect(client, 'stream client disconnected')
      return
    }
    for (const [index, record] of records.entries())
      recent.push(record, { isHidden: events[index]?.type === UNSIGNED_TYPE })
    this.#deliverSoon()
  }

  /** To one client, or to all. */
  #deliverSoon(client: StreamClient | null = null): void {
    if (client === null) this.#due = null
    else this.#due?.add(client)
    if (this.#isDelivering) return
    this.#isDelivering = true
    // Runs after everything that is stored together with the causing event.
    yieldToEventLoop()
      .then(() => this.#deliver())
      .catch((error: unknown) => this.#report(error))
  }

  /** Serves every client, in slices between which the event loop runs. */
  async #deliver(): Promise<void> {
    while (this.#due === null || this.#due.size > 0) {
      const due = this.#due ?? this.#clients
      this.#due = new Set()
      let sliceBeganMs = performance.now()
      for (const client of due) {
        this.#serve(client)
        if (performance.now() - sliceBeganMs < this.#limits.sliceMs) continue
        await yieldToEventLoop()
        sliceBeganMs = performance.now()
      }
      this.#session?.recent.releaseChunks()
    }
    this.#isDelivering = false
  }

  /** Sends one client its new events, as far as its connection accepts them. Never waits. */
  #serve(client: StreamClient): void {
    const recent = this.#session?.recent
    if (recent === undefined || client.isGone || client.isReading) return
    try {
      if (client.isBlocked) return this.#checkBuffer(client, recent)
      if (client.cursor + 1 < recent.oldest) return this.#catchUpSoon(client)
      // The client may know an event of another process that is not published here yet.
      while (client.cursor < recent.newest && !client.isBlocked)
        client.send(recent.chunkAfter(client.cursor, client.filter))
      if (client.cursor >= recent.newest) client.isLive = true
    } catch (error) {
      this.#fail(client, error)
    }
  }

  #checkBuffer(client: StreamClient, recent: RecentEvents): void {
    const waiting = client.countWaiting(recent)
    const { buffer_events: eventsMax } = this.#dependencies.configuration.current().stream
    if (waiting <= eventsMax) return
    this.#disconnect(client, 'stream client disconnected: it reads too slowly', { waiting })
  }

  #catchUpSoon(client: StreamClient): void {
    client.isReading = true
    this.#behind.add(client)
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    this.#catchUp().catch((error: unknown) => this.#report(error))
  }

  /** Reads the log for clients that are behind the recent events, one page at a time for all who stand in it. */
  async #catchUp(): Promise<void> {
    for (const first of this.#behind) {
      const before = this.#session?.recent.oldest
      if (first.isGone || before === undefined) {
        this.#behind.delete(first)
        continue
      }
      try {
        const page = await this.#pageFor(first, before)
        this.#handTo(first, page)
        await this.#handOut(page)
      } catch (error) {
        this.#behind.delete(first)
        first.isReading = false
        this.#fail(first, error)
      }
    }
    this.#isCatchingUp = false
  }

  /** One that was read for others, or a new one. */
  async #pageFor({ filter, cursor }: StreamClient, before: number): Promise<LogPage> {
    const known = this.#pages.find((page) => page.filterKey === filter.key && page.holds(cursor))
    if (known !== undefined) return known
    const { pageEvents: limit, pageBytesMax } = this.#limits
    const page = await readPage(this.#dependencies.engine.log, filter, { after: cursor, before, limit })
    this.#pages = newest([...this.#pages, page], pageBytesMax)
    return page
  }

  async #untilRequestsAreTaken(): Promise<void> {
    const { requestsWait } = this.#dependencies
    const endMs = performance.now() + this.#limits.requestsMsMax
    do await yieldToEventLoop()
    while (requestsWait() && performance.now() < endMs)
  }

  /** To all whose next event is in it, in slices. Clients that come meanwhile get theirs, too. */
  async #handOut(page: LogPage): Promise<void> {
    let sliceBeganMs = performance.now()
    for (const client of this.#behind) {
      if (client.filter.key !== page.filterKey || !page.holds(client.cursor)) continue
      this.#handTo(client, page)
      if (performance.now() - sliceBeganMs < this.#limits.sliceMs) continue
      await this.#untilRequestsAreTaken()
      sliceBeganMs = performance.now()
    }
  }

  #handTo(client: StreamClient, page: LogPage): void {
    this.#behind.delete(client)
    client.isReading = false
    client.isLive = false
    if (client.isGone) return
    try {
      client.send(page.chunkAfter(client.cursor))
      this.#deliverSoon(client)
    } catch (error) {
      this.#fail(client, error)
    }
  }

  #report(error: unknown): void {
    this.#dependencies.logger.error('stream delivery failed', { error })
  }

  #check(): void {
    const configuration = this.#dependencies.configuration.current()
    const nowMs = performance.now()
    const keepAliveMs = configuration.stream.keep_alive_seconds * 1000
    for (const client of this.#clients) {
      const { isKeyed, isAuthorized } = client.connection
      if ((isKeyed || configuration !== this.#checkedConfiguration) && !isAuthorized()) this.#expire(client)
      else if (client.isStuck(nowMs, this.#limits.stuckMsMax))
        this.#disconnect(client, 'stream client disconnected: it took nothing for too long')
      else client.keepAlive(keepAliveMs, nowMs)
    }
    this.#checkedConfiguration = configuration
    if (this.#behind.size === 0) this.#pages = []
  }

  #expire(client: StreamClient): void {
    const fields = { request_id: client.connection.requestId }
    this.#dependencies.logger.info('stream ended: its token is no longer valid', fields)
    client.end()
    this.#remove(client)
  }

  #fail(client: StreamClient, error: unknown): void {
    const fields = { request_id: client.connection.requestId, error }
    this.#dependencies.logger.error('stream failed; the client was disconnected', fields)
    client.cut()
    this.#remove(client)
  }

  #disconnect(client: StreamClient, why: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#dependencies.logger.info(why, { request_id: client.connection.requestId, ...fields })
    client.cut()
    this.#remove(client)
  }

  #remove(client: StreamClient): void {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    this.#session?.stop()
    this.#session = null
    this.#pages = []
  }
}

/** Returns the newest pages that fit into the bytes, at least one. */
const newest = (pages: readonly LogPage[], bytesMax: number): readonly LogPage[] => {
  let bytes = 0
  const from = pages.findLastIndex((page) => (bytes += page.bytes) > bytesMax)
  return pages.slice(Math.min(from + 1, pages.length - 1))
}

const ownersOf = (clients: ReadonlySet<StreamClient>): readonly string[] =>
  [...clients].map(({ connection }) => connection.holder.owner)

export const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }
