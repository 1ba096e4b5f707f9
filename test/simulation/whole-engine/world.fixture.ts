import { createHash, hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { randomOf, type Random } from '../random.fixture.ts'
import type { Fault } from './faults.fixture.ts'

/** A process that may end between any two of its steps. */
export interface Owner {
  readonly name: string
  isOver: boolean
  /** Time until which the process is frozen. */
  frozenUntilMs: number
}

/** An invariant of the engine that a run has broken. */
class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise'
}

interface Step {
  readonly dueMs: number
  readonly order: number
  readonly label: string
  /** Owner of the step; null for steps outside of the processes. */
  readonly owner: Owner | null
  readonly action: () => void
}

export interface CallOptions<Value> {
  readonly owner: Owner
  readonly label: string
  readonly outMs: number
  readonly backMs: number
  /** True if the call arrives even if the process ends on the way. */
  readonly survives: boolean
  /** Runs outside of the process, when the call arrives. */
  readonly effect: () => Value | Promise<Value>
}

export type TraceLine = (line: string) => void

/**
 * Simulated time and the only scheduler: every wait and every call to a port is a step. The seed alone determines the
 * order of steps and the faults.
 */
export class World {
  nowMs: number
  /** Difference between the clocks of the machines and the time that passed. */
  clockOffsetMs = 0
  readonly seed: number
  readonly counts = new Map<string, number>()
  /** Called before each step of a process. False if the process ended there. */
  beforeStepOf: (owner: Owner, label: string) => boolean = () => true
  /** Called after each step. */
  afterStep: () => void = () => undefined
  isCalm = true
  steps = 0
  readonly #active: ReadonlySet<Fault>
  readonly #queue: Step[] = []
  readonly #randoms = new Map<string, Random>()
  readonly #digest = createHash('sha256')
  readonly #trace: TraceLine | null
  readonly #isSlow: boolean
  #order = 0
  #failure: Error | null = null

  constructor(options: {
    readonly seed: number
    readonly startMs: number
    readonly faults: readonly Fault[]
    readonly trace: TraceLine | null
    readonly isSlow: boolean
  }) {
    this.seed = options.seed
    this.nowMs = options.startMs
    this.#trace = options.trace
    this.#isSlow = options.isSlow
    const choice = this.random('faults')
    // Only some of the faults per run: a run with one frequent fault finds problems that a run with all faults cannot
    // reach.
    this.#active = new Set(options.faults.filter(() => choice.happens(0.6)))
  }

  /** Time on the clocks of the processes. */
  wallMs(): number {
    return Math.floor(this.nowMs + this.clockOffsetMs)
  }

  /**
   * Each part of the world has a random generator of its own, so that one more draw in one part does not change the
   * others.
   */
  random(name: string): Random {
    const known = this.#randoms.get(name)
    if (known !== undefined) return known
    const random = randomOf(Number.parseInt(hash('sha256', `${this.seed}|${name}`, 'hex').slice(0, 8), 16))
    this.#randoms.set(name, random)
    return random
  }

  isActive(fault: Fault): boolean {
    return this.#active.has(fault)
  }

  /** True if this fault happens now. */
  goesWrong(fault: Fault, share: number): boolean {
    // Drawn in any case, so that the later draws stay the same.
    const happens = this.random(fault).happens(share)
    if (!happens || this.isCalm || !this.isActive(fault)) return false
    this.count(`fault ${fault}`)
    this.note(`! ${fault}`)
    return true
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by)
  }

  note(line: string): void {
    this.#digest.update(`${this.nowMs} ${line}\n`)
    this.#trace?.(`${new Date(this.nowMs).toISOString().slice(11, 23)} ${line}`)
  }

  /** Adds a line for the reader of the trace. */
  explain(line: () => string): void {
    this.#trace?.(`             ${line()}`)
  }

  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  schedule(delayMs: number, label: string, owner: Owner | null, action: () => void): void {
    this.#order += 1
    push(this.#queue, { dueMs: this.nowMs + delayMs, order: this.#order, label, owner, action })
  }

  /** A call to the outside and its answer. Other steps may run between these two steps. */
  call<Value>({ owner, label, outMs, backMs, survives, effect }: CallOptions<Value>): Promise<Value> {
    if (owner.isOver) return NEVER
    return new Promise<Value>((resolve, reject) => {
      const answer = (give: () => void): void => this.schedule(backMs, `${label} answered`, owner, give)
      this.schedule(outMs, label, survives ? null : owner, () => {
        settled(effect).then(
          (value) => answer(() => resolve(value)),
          (error: unknown) => answer(() => reject(asError(error))),
        )
      })
    })
  }

  /** Fails the run at the end of this step, so that the engine cannot catch the error. */
  fail(reason: unknown): void {
    this.#failure ??= asError(reason)
  }

  expect(holds: boolean, promise: string): void {
    if (!holds) this.fail(new BrokenPromise(promise))
  }

  /** Runs the next step, and everything in the processes that waits for no other step. */
  async step(): Promise<void> {
    const step = pop(this.#queue)
    if (step === undefined) throw new Error('nothing is left to happen')
    const { owner, label, action } = step
    if (owner?.isOver === true) return
    if (owner !== null && owner.frozenUntilMs > this.nowMs && owner.frozenUntilMs > step.dueMs) {
      push(this.#queue, { ...step, dueMs: owner.frozenUntilMs })
      return
    }
    this.nowMs = Math.max(this.nowMs, step.dueMs)
    if (owner !== null && !this.beforeStepOf(owner, label)) return
    this.steps += 1
    this.note(owner === null ? label : `${owner.name}: ${label}`)
    action()
    await settle()
    if (this.#isSlow) await delay(1)
    this.afterStep()
    this.throwIfBroken()
  }

  /** Throws a failure that was found between two steps. After the last step no other code would report it. */
  throwIfBroken(): void {
    if (this.#failure !== null) throw this.#failure
  }

  async runUntil(endMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    while (this.nowMs < endMs) {
      if (isDone()) return true
      await this.step()
    }
    return isDone()
  }
}

export const NEVER = new Promise<never>(() => undefined)

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)))

/** The answer of the outside, synchronous or not. An error is an answer, too. */
const settled = async <Value>(effect: () => Value | Promise<Value>): Promise<Value> => effect()

/** The engine yields to the event loop a few times between two calls to a port. */
const TURNS = 4

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const isBefore = (one: Step, other: Step): boolean =>
  one.dueMs === other.dueMs ? one.order < other.order : one.dueMs < other.dueMs

/** A heap with the next step at the root. */
const push = (heap: Step[], step: Step): void => {
  let index = heap.length
  heap.push(step)
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent] as Step
    if (!isBefore(step, above)) break
    heap[index] = above
    index = parent
  }
  heap[index] = step
}

const pop = (heap: Step[]): Step | undefined => {
  const [first] = heap
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return first
  let index = 0
  for (;;) {
    const left = 2 * index + 1
    if (left >= heap.length) break
    const right = left + 1
    const child = right < heap.length && isBefore(heap[right] as Step, heap[left] as Step) ? right : left
    if (!isBefore(heap[child] as Step, last)) break
    heap[index] = heap[child] as Step
    index = child
  }
  heap[index] = last
  return first
}
