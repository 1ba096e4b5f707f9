import type { Command } from '../core/decide.ts'

/**
 * Commands that wait, each lane in the order in which they came. What ends a risk, or is an operator's word about it,
 * waits for nothing but its like: not for a flood of signals, and not in one large batch with them.
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

  /** How many would be decided before it. */
  lengthBefore(command: Command): number {
    return this.#laneOf(command).length
  }

  push(waiting: Waiting): void {
    this.#laneOf(waiting.command).push(waiting)
  }

  /** Before all that wait in their lanes, in their order. */
  putBack(all: readonly Waiting[]): void {
    for (const waiting of all.toReversed()) this.#laneOf(waiting.command).unshift(waiting)
  }

  /** At most `count`; beside urgent ones only as many others as make the batch no larger than `countBeside`. */
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

/** Both words of the operator about the switch: the later one has to stay the later one. */
const URGENT: ReadonlySet<Command['kind']> = new Set([
  'observe-tick',
  'set-kill-switch',
  'reset-kill-switch',
  'close-position',
  'close-all',
  'cancel-order',
])
