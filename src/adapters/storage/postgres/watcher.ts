import { setTimeout as sleep } from 'node:timers/promises'
import { HEAD_CHANNEL } from './append-statement.ts'
import { connect, ConnectionKeeper, type Server } from './connection.ts'
import { LogClosedError } from './errors.ts'

const POLL_MS = 250
/** Whoever could not read the log when it moved is asked to look again. */
const REMIND_MS = 5_000

/** Notifies when the head moved: LISTEN is the fast way, polling the head the sure one. */
export class Watcher {
  readonly #keeper: ConnectionKeeper
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #polling: Promise<void> | null = null
  #knownSeq: string | null | undefined
  #notifiedMs = 0

  constructor(server: Server) {
    this.#keeper = new ConnectionKeeper(async (onLost) => {
      const client = await connect(server, 'signal-engine watcher', onLost)
      client.on('notification', ({ payload }) => this.#notify(payload))
      await client.query(`LISTEN ${HEAD_CHANNEL}`)
      return client
    })
  }

  watch(onAppended: () => void): () => void {
    if (this.#closing.signal.aborted) throw new LogClosedError()
    // Wrapped, so that one function may watch twice and stop once.
    const listener = (): void => onAppended()
    this.#listeners.add(listener)
    this.#polling ??= this.#pollUntilClosed()
    return () => {
      this.#listeners.delete(listener)
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#closing.abort()
    await this.#polling
    await this.#keeper.close()
  }

  async #pollUntilClosed(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#poll()
      // Rejected only by closing, which the loop sees for itself.
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #poll(): Promise<void> {
    try {
      const client = await this.#keeper.get()
      const { rows } = await client.query<{ seq: string | null }>('SELECT max(seq) AS seq FROM events')
      this.#notify(rows[0]?.seq)
    } catch {
      // The server is away. Reads and appends report the error; the next poll tries again.
    }
  }

  #notify(seq: string | null | undefined): void {
    const nowMs = performance.now()
    if (seq === this.#knownSeq && nowMs - this.#notifiedMs < REMIND_MS) return
    this.#knownSeq = seq
    this.#notifiedMs = nowMs
    // Not inside the driver's or our own error handling: a listener that throws is a bug and must show.
    for (const listener of this.#listeners) queueMicrotask(listener)
  }
}
