import type { Client } from 'pg'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import { LogClosedError } from './faults.ts'
import { disconnect } from './session.ts'

const PAUSE_MS_MIN = 50
const PAUSE_MS_MAX = 2_000

/** One connection that is made again after it was lost: at once for the first time, then with growing pauses. */
export class ConnectionKeeper {
  readonly #connect: (onLost: () => void) => Promise<Client>
  #client: Promise<Client> | null = null
  #failures = 0
  #pausedUntilMs = 0
  #closed = false

  constructor(connect: (onLost: () => void) => Promise<Client>) {
    this.#connect = connect
  }

  /** How long until `get` tries again. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntilMs - Date.now())
  }

  /** Throws StoreUnavailableError when there is no connection, without trying while it pauses. */
  async get(): Promise<Client> {
    if (this.#closed) throw new LogClosedError()
    if (this.#client !== null) return this.#client
    if (this.pauseMs > 0) throw new StoreUnavailableError('PostgreSQL is not reachable; trying again soon')
    const opening: Promise<Client> = this.#open(() => {
      if (this.#client === opening) this.#client = null
    })
    this.#client = opening
    return opening
  }

  async close(): Promise<void> {
    this.#closed = true
    // A connection that never came about needs no end.
    const client = await this.#client?.catch(() => null)
    if (client !== null && client !== undefined) await disconnect(client)
  }

  async #open(forget: () => void): Promise<Client> {
    try {
      const client = await this.#connect(forget)
      this.#failures = 0
      return client
    } catch (error) {
      forget()
      this.#pausedUntilMs = Date.now() + Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** this.#failures)
      this.#failures += 1
      throw error
    }
  }
}
