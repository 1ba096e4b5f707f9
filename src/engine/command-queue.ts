import type { Command } from '../core/decide.ts'
import { StoreUnavailableError } from '../ports/event-log.ts'

/** Thrown if the queue is full. The caller retries later. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'
  constructor() {
    super('too many commands are waiting')
  }
}

export class EngineClosedError extends Error {
  override readonly name = 'EngineClosedError'
  constructor() {
    super('the engine is shutting down')
  }
}

/** Thrown if another process has ended the key of this one, which must restart with the new key. */
export class KeyRetiredError extends StoreUnavailableError {
  constructor(nodeId: string) {
    super(`the key of ${nodeId} was retired: restart this process with the identity that replaced it`)
  }
}

/** Thrown if another process leads by now. Nothing was stored, and nothing more will be stored under this token. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
  constructor(token: number) {
    super(`another process leads: the lease with token ${token} is over`)
  }
}

export interface EngineLimits {
  /** Limit of waiting commands in a lane. Further commands are refused at once. */
  readonly queueMax: number
  /** Limit of commands that are decided together and stored in one transaction. */
  readonly batchMax: number
  /** Number of commands up to which they are not split over several batches. */
  readonly batchMin: number
  /** Limit of commands decided in one turn of the event loop. Prices and stops wait no longer than that. */
  readonly turnMax: number
  /** Size up to which a batch with urgent commands is filled with others. */
  readonly urgentBatchMax: number
  /** Limit of batches that are being stored at the same time. */
  readonly inFlightMax: number
}

export const LIMITS: EngineLimits = {
  queueMax: 10_000,
  batchMax: 1000,
  batchMin: 16,
  turnMax: 24,
  urgentBatchMax: 128,
  inFlightMax: 4,
}

/**
 * Waiting commands in two lanes, first in first out. Commands that reduce risk, and the operator's commands about the
 * kill switch, are urgent: they wait neither behind a flood of signals nor in a large batch with them.
 */
export class CommandQueue<Waiting extends { readonly command: Command }> {
  readonly #urgent: Waiting[] = []
  readonly #usual: Waiting[] = []

  get length(): number {
    return this.#urgent.length + this.#usual.length
  }

  get hasUrgent(): boolean {
    return this.#urgent.length > 0
  }

  /** Number of commands that would be decided before this one. */
  lengthBefore(command: Command): number {
    return this.#laneOf(command).length
  }

  push(waiting: Waiting): void {
    this.#laneOf(waiting.command).push(waiting)
  }

  /** Puts commands back to the front of their lanes, in their order. */
  putBack(all: readonly Waiting[]): void {
    for (const waiting of all.toReversed()) this.#laneOf(waiting.command).unshift(waiting)
  }

  /** Takes at most `count` commands. A batch with urgent commands is filled with others only up to `countBeside`. */
  take(count: number, countBeside: number): Waiting[] {
    const urgent = this.#urgent.splice(0, count)
    const size = urgent.length === 0 ? count : Math.min(count, countBeside)
    return [...urgent, ...this.#usual.splice(0, Math.max(0, size - urgent.length))]
  }

  takeAll(): Waiting[] {
    return [...this.#urgent.splice(0), ...this.#usual.splice(0)]
  }

  #laneOf(command: Command): Waiting[] {
    return isUrgent(command) ? this.#urgent : this.#usual
  }
}

export const isUrgent = ({ kind }: Command): boolean => URGENT.has(kind)

/** Both commands of the operator about the kill switch are urgent, so that they keep their order. */
const URGENT: ReadonlySet<Command['kind']> = new Set([
  'observe-tick',
  'set-kill-switch',
  'reset-kill-switch',
  'close-position',
  'close-all',
  'cancel-order',
])
