import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog, Snapshot } from '../ports/event-log.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { Signer } from '../ports/signer.ts'
import { snapshotSteps, type Memory } from './memory.ts'

/** Saves a snapshot every `everyEvents` events, so that the duration of a start does not depend on the history. */
export class SnapshotKeeper {
  readonly #log: EventLog
  readonly #signer: Pick<Signer, 'nodeId' | 'sign'>
  readonly #everyEvents: number
  readonly #nowMs: () => number
  #keptSeq: number
  #underWay: Promise<void> | null = null
  #giveUpAtMs = Number.POSITIVE_INFINITY
  #restUntilMs = 0

  constructor(
    log: EventLog,
    signer: Pick<Signer, 'nodeId' | 'sign'>,
    everyEvents: number,
    keptSeq: number,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#log = log
    this.#signer = signer
    this.#everyEvents = everyEvents
    this.#keptSeq = keptSeq
    this.#nowMs = nowMs
  }

  async keepIfDue(memory: Memory): Promise<void> {
    if (this.#underWay !== null || memory.head.seq - this.#keptSeq < this.#everyEvents) return
    if (this.#nowMs() < this.#restUntilMs) return
    await this.#begin(memory)
  }

  /**
   * Saves a snapshot when the process stops. The caller waits for at most a second: a snapshot is only a cache, and the
   * next start folds the events since the last one. Parts of an abandoned snapshot have no effect and are dropped
   * later.
   */
  async keepNow(memory: Memory): Promise<void> {
    this.#giveUpAtMs = this.#nowMs() + STOP_MS_MAX
    const kept = this.#keepAtEnd(memory)
    const over = new AbortController()
    const limit = sleep(STOP_MS_MAX, undefined, { signal: over.signal }).catch(() => undefined)
    try {
      await Promise.race([kept, limit])
    } finally {
      over.abort()
      // An abandoned snapshot fails when the log closes. No caller waits for that error.
      kept.catch(() => undefined)
    }
  }

  async #keepAtEnd(memory: Memory): Promise<void> {
    // The caller that started the running snapshot gets its error.
    while (this.#underWay !== null) await this.#underWay.catch(() => undefined)
    if (memory.head.seq !== this.#keptSeq) await this.#begin(memory)
  }

  #begin(memory: Memory): Promise<void> {
    this.#underWay = this.#keep(memory).finally(() => {
      this.#underWay = null
    })
    return this.#underWay
  }

  async #keep(memory: Memory): Promise<void> {
    const snapshot = await this.#written(memory)
    if (snapshot === null) return
    await this.#log.saveSnapshot(snapshot)
    this.#keptSeq = memory.head.seq
  }

  /**
   * Builds a snapshot in short steps, so that prices do not wait for a large state. Returns null if the process stops
   * before it is complete.
   */
  async #written(memory: Memory): Promise<Snapshot | null> {
    const steps = snapshotSteps(memory, this.#signer)
    let workMs = 0
    for (;;) {
      const beganMs = this.#nowMs()
      const snapshot = stepsUntil(steps, () => this.#nowMs() - beganMs >= WORK_MS)
      workMs += this.#nowMs() - beganMs
      // The pause after a snapshot limits its share of the time under load.
      this.#restUntilMs = beganMs + REST_PER_WORK * workMs
      if (snapshot !== null) return snapshot
      if (this.#nowMs() >= this.#giveUpAtMs) return null
      await (this.#giveUpAtMs < Number.POSITIVE_INFINITY ? yieldToEventLoop() : sleep(PAUSE_MS))
    }
  }
}

/** Works until `isEnough`. Returns the snapshot once it is complete. */
const stepsUntil = (steps: Generator<undefined, Snapshot>, isEnough: () => boolean): Snapshot | null => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (isEnough()) return null
  }
}

/** Longest wait for a snapshot when the process stops. */
const STOP_MS_MAX = 1000

/** Work between two pauses. A single step takes much less. */
const WORK_MS = 0.5

/** Pause between two stretches of work. */
const PAUSE_MS = 5

/** Pause after a snapshot, as a multiple of its work: snapshots take at most a hundredth of the time. */
const REST_PER_WORK = 100
