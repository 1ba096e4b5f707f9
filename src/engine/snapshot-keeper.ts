import type { EventLog } from '../ports/event-log.ts'
import { snapshotOf, type Memory } from './memory.ts'

/** Leaves a snapshot every so many events, so that a start does not depend on history. */
export class SnapshotKeeper {
  readonly #log: EventLog
  readonly #everyEvents: number
  readonly #nowMs: () => number
  #keptSeq: number
  #keeping = false
  #restUntilMs = 0

  constructor(
    log: EventLog,
    everyEvents: number,
    keptSeq: number,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#log = log
    this.#everyEvents = everyEvents
    this.#keptSeq = keptSeq
    this.#nowMs = nowMs
  }

  async keepIfDue(memory: Memory): Promise<void> {
    if (this.#keeping || memory.head.seq - this.#keptSeq < this.#everyEvents) return
    if (this.#nowMs() < this.#restUntilMs) return
    await this.keepNow(memory)
  }

  async keepNow(memory: Memory): Promise<void> {
    if (memory.head.seq === this.#keptSeq) return
    this.#keeping = true
    try {
      const beganMs = this.#nowMs()
      const snapshot = snapshotOf(memory)
      // Writing a large state holds everybody up: under load it keeps to its share of the time.
      this.#restUntilMs = beganMs + REST_PER_WORK * (this.#nowMs() - beganMs)
      await this.#log.saveSnapshot(snapshot)
      this.#keptSeq = memory.head.seq
    } finally {
      this.#keeping = false
    }
  }
}

/** A hundredth of the time at most. */
const REST_PER_WORK = 100
