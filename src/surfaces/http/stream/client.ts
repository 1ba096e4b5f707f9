import type { Writable } from 'node:stream'
import type { StreamConnection } from '../results.ts'
import { KEEP_ALIVE, type Chunk, type StreamFilter } from './frames.ts'
import type { RecentEvents } from './recent-events.ts'

/** One connected client: a position in the log, a filter and a connection with back-pressure. */
export class StreamClient {
  readonly connection: StreamConnection
  readonly filter: StreamFilter
  /** Whether a page of the log is being read for it. Set by the hub. */
  isReading = false
  /** Whether it reached the newest event and only has to keep up since. Set by the hub. */
  isLive = false
  readonly #onDrain: () => void
  #cursor: number
  #isGone = false
  /** When the connection stopped taking more; null while it takes what is written. */
  #blockedSinceMs: number | null = null
  #keptAliveMs = performance.now()
  #waiting = 0
  #countedTo = 0

  /** Begins after the seq `cursor`. `onDrain` is called when a blocked connection takes more again. */
  constructor(connection: StreamConnection, filter: StreamFilter, cursor: number, onDrain: () => void) {
    this.connection = connection
    this.filter = filter
    this.#cursor = cursor
    this.#onDrain = onDrain
  }

  /** Every event up to this seq that its filter lets through was written. */
  get cursor(): number {
    return this.#cursor
  }

  get isBlocked(): boolean {
    return this.#blockedSinceMs !== null
  }

  get isGone(): boolean {
    return this.#isGone
  }

  send({ bytes, framed, upTo }: Chunk): void {
    this.#cursor = upTo
    this.#countedTo = upTo
    this.#waiting = 0
    if (bytes.length > 0) this.#write(bytes, framed)
  }

  /** Events that wait for a live client; one that still reads the log may take its time. Each is counted once. */
  countWaiting(recent: RecentEvents): number {
    if (!this.isLive || !this.isBlocked) return 0
    this.#waiting += recent.count(this.#countedTo, this.filter)
    this.#countedTo = Math.max(this.#countedTo, recent.newest)
    return this.#waiting
  }

  keepAlive(everyMs: number, nowMs: number): void {
    if (nowMs - this.#keptAliveMs < everyMs || this.isBlocked) return
    this.#keptAliveMs = nowMs
    this.#write(KEEP_ALIVE)
  }

  isStuck(nowMs: number, stuckMsMax: number): boolean {
    return this.#blockedSinceMs !== null && nowMs - this.#blockedSinceMs > stuckMsMax
  }

  /** Ends the response properly, unless the client would have to read first. */
  end(last?: Buffer): void {
    if (this.isBlocked) return this.cut()
    this.#isGone = true
    this.connection.response.end(last)
  }

  cut(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.connection.response.destroy()
  }

  /** Past the response where that is possible: it would frame the chunk again, which doubles the time of a write. */
  #write(bytes: Buffer, framed: Buffer | null = null): void {
    const { response, isChunked } = this.connection
    // A pipelined response has no socket before its turn.
    const { socket } = response
    const isDirect = isChunked && framed !== null && socket !== null
    if (isDirect ? socket.write(framed) : response.write(bytes)) return
    this.#blockedSinceMs = performance.now()
    const target: Writable = isDirect ? socket : response
    target.once('drain', () => {
      this.#blockedSinceMs = null
      if (!this.#isGone) this.#onDrain()
    })
  }
}
