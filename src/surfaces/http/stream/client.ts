import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { belowSockets, directWrite } from './direct-write.ts'
import type { Filter } from './filter.ts'
import { KEEP_ALIVE, type Chunk } from './frames.ts'
import { FIRST_PAGE_EVENTS, nextPageEvents } from './history.ts'
import type { StreamLimits } from './limits.ts'
import type { FrameRing } from './ring.ts'

export interface ClientDependencies {
  readonly response: ServerResponse
  readonly requestId: string
  readonly filter: Filter
  /** The seq behind which it begins to read. */
  readonly cursor: number
  readonly limits: StreamLimits
  /** Whether its token still opens the door. */
  readonly isWelcome: () => boolean
  /** Told when the connection took everything it was given. */
  readonly onTaken: (client: StreamClient) => void
}

/** One connection: a place in the log, a filter and a socket. */
export class StreamClient {
  readonly requestId: string
  readonly filter: Filter
  readonly isWelcome: () => boolean
  readonly #response: ServerResponse
  readonly #limits: StreamLimits
  #socket: Socket | null = null
  readonly #onWritten: (error?: Error | null) => void
  #cursor: number
  #pageEvents: number
  /** Writes that the connection did not yet take; a keep-alive may overtake a page that is being read. */
  #pendingWrites = 0
  #lastTakenMs = 0
  #isGone = false
  #keptAliveMs = performance.now()
  /** Whether it was at the end of the log once, and has only to keep up since. */
  #isLive = false
  #waiting = 0
  #countedTo: number

  constructor({ response, requestId, filter, cursor, limits, isWelcome, onTaken }: ClientDependencies) {
    this.requestId = requestId
    this.filter = filter
    this.isWelcome = isWelcome
    this.#response = response
    this.#limits = limits
    this.#cursor = cursor
    this.#countedTo = cursor
    this.#pageEvents = Math.min(FIRST_PAGE_EVENTS, limits.pageEventsMax)
    this.#onWritten = (error) => {
      this.#pendingWrites -= 1
      this.#lastTakenMs = performance.now()
      // After an error the connection closes, and that is told elsewhere.
      if (!error && !this.#isGone && this.#pendingWrites === 0) onTaken(this)
    }
  }

  /** It was told everything up to this seq that it wants. */
  get cursor(): number {
    return this.#cursor
  }

  /** Whether a page of the log is being read for it; kept here by whoever reads. */
  isReading = false

  /** Whether the connection did not yet take what was written last. */
  get isWriting(): boolean {
    return this.#pendingWrites > 0
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** How many events to read from the log at once. */
  get pageEvents(): number {
    return this.#pageEvents
  }

  take({ bytes, framed, events, upTo }: Chunk): void {
    this.#cursor = upTo
    this.#countedTo = upTo
    this.#waiting = events
    if (bytes.length > 0) this.#write(bytes, framed)
  }

  takePage(page: Chunk): void {
    // Who reads from the log is not live, and may take the time it needs.
    this.#isLive = false
    this.#pageEvents = nextPageEvents(this.#pageEvents, page, this.#limits)
    this.take(page)
  }

  arrive(): void {
    this.#isLive = true
  }

  /** Events beyond what a live connection took, among them what is being written. Each is counted once. */
  countWaiting(ring: FrameRing): number {
    if (!this.#isLive || !this.isWriting) return 0
    this.#waiting += ring.count(this.#countedTo, this.filter)
    this.#countedTo = Math.max(this.#countedTo, ring.newest)
    return this.#waiting
  }

  keepAlive(everyMs: number, nowMs: number): void {
    if (nowMs - this.#keptAliveMs < everyMs || this.isWriting) return
    this.#keptAliveMs = nowMs
    this.#write(KEEP_ALIVE)
  }

  isStuck(nowMs: number): boolean {
    return this.isWriting && nowMs - this.#lastTakenMs > this.#limits.stuckMsMax
  }

  /** Ends the answer properly, unless that would mean to wait. */
  end(last: Buffer | null = null): void {
    if (this.isWriting) this.cut()
    else this.#response.end(last ?? undefined)
    this.#isGone = true
  }

  cut(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#response.destroy()
  }

  #write(bytes: Buffer, framed: Buffer | null = null): void {
    this.#socket ??= socketBehind(this.#response)
    const socket = this.#socket
    if (framed === null || socket === null) {
      this.#awaitTaken()
      this.#response.write(bytes, this.#onWritten)
      return
    }
    if (writeTo(socket, framed)) return
    this.#awaitTaken()
    socket.write(NOTHING, this.#onWritten)
  }

  #awaitTaken(): void {
    if (this.#pendingWrites === 0) this.#lastTakenMs = performance.now()
    this.#pendingWrites += 1
  }
}

/**
 * To write past the framework, which would frame it anew for each client and take twice as long. An answer that waits
 * for its turn on the connection has none yet, and older clients know no chunks.
 */
const socketBehind = ({ socket, chunkedEncoding }: ServerResponse): Socket | null =>
  chunkedEncoding ? socket : null

const writeTo = directWrite(belowSockets())

const NOTHING = Buffer.alloc(0)
