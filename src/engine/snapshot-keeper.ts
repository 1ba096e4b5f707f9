import { setTimeout as sleep } from 'node:timers/promises'
import type { EventLog, Snapshot } from '../ports/event-log.ts'
import { yieldToEventLoop } from '../ports/yield-to-event-loop.ts'
import type { Signer } from '../ports/signer.ts'
import { snapshotSteps, type Memory } from './memory.ts'

/** Leaves a snapshot every so many events, so that a start does not depend on history. */
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
   * At the end, when a caller waits for it, but not longer than a second: a snapshot is only a cache, and the next start
   * folds the events since the last one. Parts of one that was given up count for nothing and are dropped later.
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
      // What is given up ends when the log closes, with an error that nobody waits for.
      kept.catch(() => undefined)
    }
  }

  async #keepAtEnd(memory: Memory): Promise<void> {
    // The caller that began the one under way gets its error.
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
   * Prices do not wait for a large state to be written: most of the time is theirs meanwhile. Null if the process ends
   * before it is whole.
   */
  async #written(memory: Memory): Promise<Snapshot | null> {
    const steps = snapshotSteps(memory, this.#signer)
    let workMs = 0
    for (;;) {
      const beganMs = this.#nowMs()
      const snapshot = stepsUntil(steps, () => this.#nowMs() - beganMs >= WORK_MS)
      workMs += this.#nowMs() - beganMs
      // Under load it keeps to its share of the time.
      this.#restUntilMs = beganMs + REST_PER_WORK * workMs
      if (snapshot !== null) return snapshot
      if (this.#nowMs() >= this.#giveUpAtMs) return null
      await (this.#giveUpAtMs < Number.POSITIVE_INFINITY ? yieldToEventLoop() : sleep(PAUSE_MS))
    }
  }
}

/** Works for a while; the snapshot, when it is whole. */
const stepsUntil = (steps: Generator<undefined, Snapshot>, isEnough: () => boolean): Snapshot | null => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (isEnough()) return null
  }
}

/** How long a process that ends waits for a snapshot. */
const STOP_MS_MAX = 1000

/** At a time: a step takes much less. */
const WORK_MS = 0.5

/** Between two stretches of work. */
const PAUSE_MS = 5

/** A hundredth of the time at most. */
const REST_PER_WORK = 100
