import { setTimeout as sleep } from 'node:timers/promises'
import { HEAD_CHANNEL } from './append-statement.ts'
import { connect, ConnectionKeeper, type Server } from './connection.ts'
import { LogClosedError } from './errors.ts'

const POLL_MS = 250
/** Interval at which listeners that could not read the log are notified again. */
const REMIND_MS = 5_000

/** Notifies when the head moved. LISTEN is the fast way, polling the head the reliable one. */
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
    // Wrapped, so that the same function may watch twice and be stopped once.
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
      // The wait rejects only on close, which the loop checks itself.
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #poll(): Promise<void> {
    try {
      const client = await this.#keeper.get()
      const { rows } = await client.query<{ seq: string | null }>('SELECT max(seq) AS seq FROM events')
      this.#notify(rows[0]?.seq)
    } catch {
      // The server is unreachable. Reads and appends report the error; the next poll tries again.
    }
  }

  #notify(seq: string | null | undefined): void {
    const nowMs = performance.now()
    if (seq === this.#knownSeq && nowMs - this.#notifiedMs < REMIND_MS) return
    this.#knownSeq = seq
    this.#notifiedMs = nowMs
    // Runs outside the driver's error handling and ours: a listener that throws is a bug and must show.
    for (const listener of this.#listeners) queueMicrotask(listener)
  }
}
