import { setTimeout as sleep } from 'node:timers/promises'
import { HEAD_CHANNEL } from './append-statement.ts'
import { ConnectionKeeper } from './connection-keeper.ts'
import { LogClosedError } from './faults.ts'
import { connect, type Server } from './session.ts'

const POLL_MS = 250

/** Tells that the head moved: the server's notification is the fast way, looking at the head the sure one. */
export class Watcher {
  readonly #keeper: ConnectionKeeper
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #looking: Promise<void> | null = null
  #knownSeq: string | null | undefined

  constructor(server: Server) {
    this.#keeper = new ConnectionKeeper(async (onLost) => {
      const client = await connect(server, 'signal-engine watcher', onLost)
      client.on('notification', ({ payload }) => this.#tell(payload))
      await client.query(`LISTEN ${HEAD_CHANNEL}`)
      return client
    })
  }

  watch(onAppended: () => void): () => void {
    if (this.#closing.signal.aborted) throw new LogClosedError()
    // Wrapped, so that one function may watch twice and stop once.
    const listener = (): void => onAppended()
    this.#listeners.add(listener)
    this.#looking ??= this.#lookAgainAndAgain()
    return () => {
      this.#listeners.delete(listener)
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    this.#closing.abort()
    await this.#looking
    await this.#keeper.close()
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#look()
      // Rejected only by closing, which the loop sees for itself.
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    try {
      const client = await this.#keeper.get()
      const { rows } = await client.query<{ seq: string | null }>('SELECT max(seq) AS seq FROM events')
      this.#tell(rows[0]?.seq)
    } catch {
      // The server is away. Whoever reads or appends hears of it; here it only means to look again.
    }
  }

  #tell(seq: string | null | undefined): void {
    if (seq === this.#knownSeq) return
    this.#knownSeq = seq
    // Not inside the driver's or our own error handling: a listener that throws is a bug and must show.
    for (const listener of this.#listeners) queueMicrotask(listener)
  }
}
