import type { EventLog } from '../ports/event-log.ts'
import { snapshotOf, type Memory } from './memory.ts'

/** Leaves a snapshot every so many events, so that a start does not depend on history. */
export class SnapshotKeeper {
  readonly #log: EventLog
  readonly #everyEvents: number
  #keptSeq: number
  #keeping = false

  constructor(log: EventLog, everyEvents: number, keptSeq: number) {
    this.#log = log
    this.#everyEvents = everyEvents
    this.#keptSeq = keptSeq
  }

  async keepIfDue(memory: Memory): Promise<void> {
    if (this.#keeping || memory.head.seq - this.#keptSeq < this.#everyEvents) return
    await this.keepNow(memory)
  }

  async keepNow(memory: Memory): Promise<void> {
    if (memory.head.seq === this.#keptSeq) return
    this.#keeping = true
    try {
      await this.#log.saveSnapshot(snapshotOf(memory))
      this.#keptSeq = memory.head.seq
    } finally {
      this.#keeping = false
    }
  }
}
