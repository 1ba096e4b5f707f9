import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../../engine/engine.ts'
import type { Committed } from '../../../engine/event-bus.ts'
import type { ConfigurationStore } from '../../../ports/config-file.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { OpenLine } from '../answers.ts'
import { problem, type Problem } from '../problems.ts'
import { SHUTTING_DOWN } from '../errors.ts'
import { StreamClient } from './client.ts'
import { Delivery } from './delivery.ts'
import type { Filter } from './filter.ts'
import { RETRY, UNKNOWN_ID } from './frames.ts'
import { STREAM_LIMITS, type StreamLimits } from './limits.ts'
import { Pace } from './pace.ts'
import { FrameRing } from './ring.ts'
import type { Start } from './start.ts'

export interface HubDependencies {
  readonly engine: Engine
  readonly configuration: ConfigurationStore
  readonly logger: Logger
}

export interface Wish {
  readonly start: Start
  readonly filter: Filter
}

/** Everybody who listens. The engine tells it what is stored, and never waits for any of them. */
export class StreamHub {
  readonly #parts: HubDependencies
  readonly #limits: StreamLimits
  readonly #clients = new Set<StreamClient>()
  readonly #due = new Set<StreamClient>()
  #isEverybodyDue = false
  readonly #pace: Pace
  /** Null while nobody listens: then nothing is kept, and nothing is done. */
  #session: Session | null = null
  #checkedConfiguration: unknown
  #isClosed = false

  constructor(parts: HubDependencies, limits: Partial<StreamLimits> = {}) {
    this.#parts = parts
    this.#limits = { ...STREAM_LIMITS, ...limits }
    this.#pace = new Pace(
      this.#limits.tickMs,
      () => this.#round(),
      (error) => parts.logger.error('the event stream failed', { error }),
    )
  }

  get size(): number {
    return this.#clients.size
  }

  /** Takes the connection over, or says why not. */
  open(line: OpenLine, { start, filter }: Wish): Problem | null {
    if (this.#isClosed) return SHUTTING_DOWN
    const { max_clients } = this.#parts.configuration.current().stream
    if (this.#clients.size >= max_clients) return tooManyClients(max_clients)
    this.#session ??= this.#begin()
    const { ring } = this.#session
    const client = new StreamClient({
      response: line.response,
      requestId: line.requestId,
      filter: this.#sharedFilter(filter),
      cursor: start.kind === 'now' ? ring.newest : start.seq,
      limits: this.#limits,
      isWelcome: line.isWelcome,
      onTaken: (taker) => this.#taken(taker),
    })
    this.#clients.add(client)
    line.onClosed(() => {
      client.cut()
      this.#remove(client)
    })
    const isLost = start.kind === 'now' && start.because === 'unknown-id'
    line.begin(HEADERS, isLost ? Buffer.concat([RETRY, UNKNOWN_ID]) : RETRY)
    this.#again(client)
    return null
  }

  /** Tells those who keep up what is left, and ends all streams. */
  close(): void {
    this.#isClosed = true
    for (const client of this.#clients) {
      const ring = this.#session?.ring
      const isInRing = ring !== undefined && client.cursor + 1 >= ring.oldest && client.cursor < ring.newest
      client.end(isInRing ? ring.chunkAfter(client.cursor, client.filter).bytes : null)
      this.#remove(client)
    }
  }

  /** Those who want the same share a filter: by it the ring sees without a search that it has their bytes. */
  #sharedFilter(filter: Filter): Filter {
    for (const client of this.#clients) if (client.filter.key === filter.key) return client.filter
    return filter
  }

  #begin(): Session {
    const { engine, configuration } = this.#parts
    // The feed's next event is the one behind the engine's head.
    const ring = new FrameRing(engine.head.seq, this.#limits)
    const delivery = new Delivery({
      log: engine.log,
      ring,
      limits: this.#limits,
      bufferEvents: () => configuration.current().stream.buffer_events,
      again: (client) => this.#again(client),
      tooSlow: (client, waiting) => this.#lose(client, 'a stream client was too slow', { waiting }),
      failed: (client, error) => this.#fail(client, error),
    })
    const stopListening = engine.eventBus.subscribe((committed) => this.#hear(committed))
    const care = setInterval(() => this.#care(), this.#limits.careMs)
    return {
      ring,
      delivery,
      stop: () => {
        stopListening()
        clearInterval(care)
      },
    }
  }

  #hear({ records }: Committed): void {
    const ring = this.#session?.ring
    if (ring === undefined) return
    const next = records[0]?.seq
    if (next !== ring.newest + 1) {
      this.#parts.logger.error('the feed left events out', { told: next, expected: ring.newest + 1 })
      // Those who come back begin in the log, which leaves nothing out.
      for (const client of this.#clients) this.#lose(client, 'a stream was ended')
      return
    }
    for (const record of records) ring.push(record)
    this.#isEverybodyDue = true
    this.#pace.ask()
  }

  #taken(client: StreamClient): void {
    if (this.#session !== null && client.cursor < this.#session.ring.newest) this.#again(client)
  }

  #again(client: StreamClient): void {
    this.#due.add(client)
    this.#pace.ask()
  }

  /** Serves everybody who is due, with room for others in between. */
  async #round(): Promise<void> {
    const due = [...(this.#isEverybodyDue ? this.#clients : this.#due)]
    this.#isEverybodyDue = false
    this.#due.clear()
    for (let next = 0; next < due.length;) {
      next = this.#serveTurn(due, next)
      if (next < due.length) await setImmediate()
    }
    this.#session?.ring.forgetShared()
  }

  /** Serves one after the other, for as long as a turn may take, and says where the next turn begins. */
  #serveTurn(due: readonly StreamClient[], from: number): number {
    const { sliceMs, clientsPerLook, bytesPerLook } = this.#limits
    const beganMs = performance.now()
    let served = 0
    let bytes = 0
    for (let at = from; at < due.length; at += 1) {
      const client = due[at]
      if (client === undefined || this.#session === null || client.isGone) continue
      try {
        bytes += this.#session.delivery.serve(client)
      } catch (error) {
        this.#fail(client, error)
      }
      served += 1
      if (served < clientsPerLook && bytes < bytesPerLook) continue
      if (performance.now() - beganMs >= sliceMs) return at + 1
      served = 0
      bytes = 0
    }
    return due.length
  }

  #care(): void {
    const configuration = this.#parts.configuration.current()
    const nowMs = performance.now()
    const keepAliveMs = configuration.stream.keep_alive_seconds * 1000
    for (const client of this.#clients) {
      if (configuration !== this.#checkedConfiguration && !client.isWelcome()) this.#dismiss(client)
      else if (client.isStuck(nowMs)) this.#lose(client, 'a stream client took nothing for too long')
      else client.keepAlive(keepAliveMs, nowMs)
    }
    this.#checkedConfiguration = configuration
  }

  #dismiss(client: StreamClient): void {
    this.#parts.logger.info('a stream was ended: its token is no longer valid', {
      request_id: client.requestId,
    })
    client.end()
    this.#remove(client)
  }

  #fail(client: StreamClient, error: unknown): void {
    this.#parts.logger.error('a stream failed', { request_id: client.requestId, error })
    client.cut()
    this.#remove(client)
  }

  #lose(client: StreamClient, why: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.#parts.logger.info(why, { request_id: client.requestId, ...fields })
    client.cut()
    this.#remove(client)
  }

  #remove(client: StreamClient): void {
    this.#clients.delete(client)
    this.#due.delete(client)
    if (this.#clients.size > 0) return
    this.#session?.stop()
    this.#session = null
  }
}

interface Session {
  readonly ring: FrameRing
  readonly delivery: Delivery
  readonly stop: () => void
}

const HEADERS = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }

const tooManyClients = (max: number): Problem =>
  problem('stream.too_many_clients', `${max} clients listen already; that is all this server serves`)
