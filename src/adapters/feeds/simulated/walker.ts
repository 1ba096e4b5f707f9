import type { FeedBar } from '../../../core/market/bar.ts'
import type { FeedListener, FeedStatus } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { createBarMaker, type BarMaker } from './bars.ts'
import { catchUpFrom, type StartPlan } from './start-plan.ts'
import type { Path } from './step.ts'

export interface WalkerDependencies {
  readonly tickSeconds: number
  readonly barSeconds: number
  readonly path: Path
  readonly timer: Timer
  readonly listener: FeedListener
  /** When bars have closed and before they are told. */
  readonly onClose: () => void
}

/** Leads a path along the clock: past steps at once, each later one when its time has come. */
export class Walker {
  readonly #parts: WalkerDependencies
  readonly #bars: BarMaker
  readonly #tickMs: number
  readonly #barMs: number
  readonly #startedMs: number
  readonly #abort = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** The end of the last step. */
  #pathMs: number
  #stepsInARow = 0
  #state: FeedStatus['state'] = 'running'
  #lastBarAtMs: number | null = null
  #trouble: string | null = null

  constructor(parts: WalkerDependencies, plan: StartPlan) {
    this.#parts = parts
    this.#bars = createBarMaker(parts.path)
    this.#tickMs = parts.tickSeconds * 1000
    this.#barMs = parts.barSeconds * 1000
    this.#startedMs = parts.timer.now()
    this.#pathMs = plan.warmup.openMs
  }

  /** Resolves when the past is told. */
  async start({ warmup, openMs }: StartPlan): Promise<void> {
    const past = this.#walkPast(warmup, openMs)
    // `stop` waits for it as well; whether it failed is told to whoever started.
    this.#running = Promise.allSettled([past]).then(() => undefined)
    const nextMs = await past
    if (!this.#stopped) this.#running = this.#walkOn(nextMs)
  }

  status(): FeedStatus {
    return {
      state: this.#trouble !== null && this.#state === 'running' ? 'failing' : this.#state,
      lastBarAtMs: this.#lastBarAtMs,
      clockOffsetMs: null,
      error: this.#trouble,
    }
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#running
    this.#state = 'stopped'
  }

  get #stopped(): boolean {
    return this.#abort.signal.aborted
  }

  /** Where the next bar begins. */
  async #walkPast(warmup: StartPlan['warmup'], openMs: number): Promise<number> {
    const warmupMs = warmup.resolutionSeconds * 1000
    for (let index = 0; index < warmup.count && !this.#stopped; index += 1) {
      await this.#makeBars(warmup.openMs + index * warmupMs, warmup.resolutionSeconds)
    }
    let nextMs = openMs
    while (nextMs + this.#barMs <= this.#parts.timer.now() && !this.#stopped) {
      nextMs = await this.#makeNext(nextMs)
    }
    return nextMs
  }

  async #walkOn(openMs: number): Promise<void> {
    let nextMs = openMs
    while (!this.#stopped) nextMs = await this.#makeNext(nextMs)
  }

  async #makeNext(openMs: number): Promise<number> {
    const { barSeconds, timer } = this.#parts
    const fromMs = catchUpFrom(openMs, timer.now(), barSeconds)
    if (fromMs > openMs) this.#skip(openMs, fromMs)
    await this.#makeBars(fromMs, barSeconds)
    return fromMs + this.#barMs
  }

  /** The market stood still meanwhile: prices go on where they were. */
  #skip(openMs: number, toMs: number): void {
    this.#pathMs = toMs
    this.#parts.listener.onError(
      `the simulated market slept: ${(toMs - openMs) / this.#barMs} bars from ${textOf(openMs)} to ` +
        `${textOf(toMs)} are skipped`,
    )
  }

  async #makeBars(openMs: number, resolutionSeconds: number): Promise<void> {
    const closeMs = openMs + resolutionSeconds * 1000
    while (this.#pathMs + this.#tickMs <= closeMs) {
      await this.#waitUntil(this.#pathMs + this.#tickMs)
      if (this.#stopped) return
      this.#step()
      await this.#letOthersRun()
    }
    await this.#waitUntil(closeMs)
    if (this.#stopped) return
    const lateMs = this.#parts.timer.now() - closeMs
    const backfill = closeMs <= this.#startedMs || lateMs >= this.#barMs
    const bars = this.#bars.close({ openMs, resolutionSeconds, backfill })
    this.#parts.onClose()
    await this.#tell(bars, closeMs)
  }

  #step(): void {
    const { path, timer, listener } = this.#parts
    path.step()
    this.#bars.add()
    this.#pathMs += this.#tickMs
    // What is made up of the past would only make the mark flicker.
    if (this.#pathMs + this.#tickMs <= timer.now()) return
    for (const { symbol, price } of path.symbols) listener.onTick({ symbol, price, atMs: this.#pathMs })
  }

  /** A long bar of short steps, all of them in the past, must not hold up the process. */
  async #letOthersRun(): Promise<void> {
    this.#stepsInARow += 1
    if (this.#stepsInARow < STEPS_IN_A_ROW_MAX) return
    this.#stepsInARow = 0
    await this.#parts.timer.wait(0, this.#abort.signal)
  }

  /** Until they are stored: a bar that is lost would be a hole for ever. */
  async #tell(bars: readonly FeedBar[], closeMs: number): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#parts.listener.onBars(bars)
        this.#lastBarAtMs = closeMs
        this.#trouble = null
        return
      } catch (error) {
        this.#say(`bars are told again, as they were not stored: ${messageOf(error)}`)
        await this.#parts.timer.wait(RETRY_MS, this.#abort.signal)
      }
    }
  }

  async #waitUntil(dueMs: number): Promise<void> {
    const { timer } = this.#parts
    for (;;) {
      const leftMs = dueMs - timer.now()
      if (leftMs <= 0 || this.#stopped) return
      if (leftMs > 2 * Math.max(this.#tickMs, this.#barMs)) {
        this.#say(`the clock is behind the newest bar: nothing happens before ${textOf(dueMs)}`)
      }
      // In parts: a clock that is set forward meanwhile is noticed.
      await timer.wait(Math.min(leftMs, WAIT_MS_MAX), this.#abort.signal)
    }
  }

  /** Once per trouble, however often it is met. */
  #say(trouble: string): void {
    if (this.#trouble === trouble) return
    this.#trouble = trouble
    this.#parts.listener.onError(trouble)
  }
}

const STEPS_IN_A_ROW_MAX = 1000
const RETRY_MS = 1000
const WAIT_MS_MAX = 60_000

const textOf = (ms: number): string => new Date(ms).toISOString()

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
