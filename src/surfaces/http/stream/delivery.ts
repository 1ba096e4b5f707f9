import type { EventLog } from '../../../ports/event-log.ts'
import type { StreamClient } from './client.ts'
import { readHistory } from './history.ts'
import type { StreamLimits } from './limits.ts'
import type { FrameRing } from './ring.ts'
import { Places } from './places.ts'

export interface DeliveryDependencies {
  readonly log: EventLog
  readonly ring: FrameRing
  readonly limits: StreamLimits
  /** How many events may wait for one client. */
  readonly bufferEvents: () => number
  /** There is more for this client. */
  readonly again: (client: StreamClient) => void
  readonly tooSlow: (client: StreamClient, waiting: number) => void
  readonly failed: (client: StreamClient, error: unknown) => void
}

/** Brings clients forward: from the log as long as the ring does not reach back to them, then from the ring. */
export class Delivery {
  readonly #parts: DeliveryDependencies
  readonly #places: Places

  constructor(parts: DeliveryDependencies) {
    this.#parts = parts
    this.#places = new Places(parts.limits.readsMax)
  }

  /** One step, at most one write, whose size it returns. Never waits. */
  serve(client: StreamClient): number {
    const { ring, bufferEvents, again, tooSlow } = this.#parts
    if (client.isReading) return 0
    if (client.isWriting) {
      const waiting = client.countWaiting(ring)
      if (waiting > bufferEvents()) tooSlow(client, waiting)
      return 0
    }
    if (client.cursor + 1 < ring.oldest) {
      this.#read(client).catch((error: unknown) => this.#parts.failed(client, error))
      return 0
    }
    // A client may know an event of another process that the feed will tell of only now.
    const chunk = client.cursor < ring.newest ? ring.chunkAfter(client.cursor, client.filter) : null
    if (chunk !== null) client.take(chunk)
    if (client.cursor >= ring.newest) client.arrive()
    // One that still writes says itself when it can take more.
    else if (!client.isWriting) again(client)
    return chunk?.bytes.length ?? 0
  }

  async #read(client: StreamClient): Promise<void> {
    const { log, ring, again } = this.#parts
    client.isReading = true
    try {
      await this.#places.take(async () => {
        if (client.isGone) return
        const before = ring.oldest
        const { cursor: after, filter, pageEvents: limit } = client
        const page = await readHistory(log, { after, before, filter, limit })
        if (!client.isGone) client.takePage(page)
      })
    } finally {
      client.isReading = false
    }
    if (!client.isGone && !client.isWriting) again(client)
  }
}
