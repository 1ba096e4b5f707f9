import type { Configuration } from '../../core/config/schema.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { marketView, plainView } from '../../core/market/readings.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { timestampAt } from '../../core/shared/time.ts'
import type { OwnProducer } from '../../ports/producer.ts'
import type { Arrivals, Awaited } from './arrivals.ts'
import { OwnTask, type OwnTaskDependencies, type TaskRegistration } from './own-task.ts'

export interface OwnProducerRunnerDependencies extends OwnTaskDependencies {
  readonly configuration: () => Configuration
  /** Names of the user's producer files. */
  readonly names: readonly string[]
  /** Rejects if the file contains no producer. */
  readonly open: (name: string) => Promise<OwnProducer>
  /**
   * In a backtest the producers run one after the other, so that every run gives the same result. A quarantined
   * producer is not retried: an hour of bars passes quickly, so a hanging producer would cost real time again and
   * again.
   */
  readonly isBacktest?: boolean
}

/** Runs the producers of the user on their schedules, after a bar was stored. Cycles wait for them up to their deadline. */
export class OwnProducerRunner implements Pick<Arrivals, 'arrived'> {
  readonly #dependencies: OwnProducerRunnerDependencies
  readonly #tasks: readonly ProducerTask[]
  #isClosed = false
  /** Bars of one time may arrive one after the other. `count` batches of them are being handled. */
  #round = { closeMs: 0, count: 0, onEnd: [] as (() => void)[] }

  constructor(dependencies: OwnProducerRunnerDependencies) {
    this.#dependencies = dependencies
    this.#tasks = dependencies.names.map((name) => new ProducerTask(name, dependencies))
  }

  /** Whether a producer is due on bars that close at `closeMs`. */
  isDue(closeMs: number): boolean {
    return this.#tasks.some((task) => task.isDue(closeMs))
  }

  /** Whether the producer is disabled for the rest of a backtest. */
  isOut(name: string): boolean {
    return this.#tasks.some((task) => task.name === name && task.isOut)
  }

  /** Called before these bars are stored. Callers of `arrived` then wait until the returned function is called. */
  expect(bars: readonly FeedBar[]): () => void {
    const closeMs = closeMsOf(bars)
    if (closeMs === null) return () => undefined
    if (closeMs !== this.#round.closeMs) this.#round = { closeMs, count: 0, onEnd: [] }
    const round = this.#round
    round.count += 1
    return () => {
      round.count -= 1
      if (round.count === 0) for (const resolve of round.onEnd.splice(0)) resolve()
    }
  }

  arrived(closeMs: number): Promise<void> {
    const round = this.#round
    if (round.closeMs !== closeMs || round.count === 0) return Promise.resolve()
    return new Promise((resolve) => round.onEnd.push(resolve))
  }

  arrivedBy(closeMs: number): Pick<Awaited, 'producers' | 'late_producers'> {
    const isUnderWay = this.#round.closeMs === closeMs && this.#round.count > 0
    const late = this.#tasks.filter((task) => task.isLate(closeMs, isUnderWay))
    const ran = this.#tasks.filter((task) => task.ranUpToMs === closeMs && !late.includes(task))
    return { producers: ran.map(({ name }) => name), late_producers: late.map(({ name }) => name) }
  }

  /** Called after these bars were stored. Resolves once all due producers have run. */
  async take(bars: readonly FeedBar[]): Promise<void> {
    const closeMs = closeMsOf(bars)
    if (this.#isClosed || closeMs === null) return
    if (this.#dependencies.isBacktest === true) for (const task of this.#tasks) await task.take(closeMs)
    else await Promise.all(this.#tasks.map((task) => task.take(closeMs)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#tasks.map((task) => task.close()))
  }
}

/** Close of the newest bar that is not backfill; null if there is none. */
const closeMsOf = (bars: readonly FeedBar[]): number | null => {
  const closes = bars.filter(({ backfill }) => !backfill).map(({ close_ts: closeTs }) => Date.parse(closeTs))
  return closes.length === 0 ? null : Math.max(...closes)
}

/** Registration until the file was read, and for a file that cannot be read. */
const UNKNOWN: TaskRegistration = { domain: 'technical', schedule: '*/15 * * * *' }

class ProducerTask {
  readonly name: string
  readonly #dependencies: OwnProducerRunnerDependencies
  readonly #task: OwnTask<OwnProducer>
  #ranUpToMs = 0
  #isOut = false

  constructor(name: string, dependencies: OwnProducerRunnerDependencies) {
    this.name = name
    this.#dependencies = dependencies
    this.#task = new OwnTask(
      {
        kind: 'producer',
        name,
        open: () => dependencies.open(name),
        registrationOf: (opened) => opened ?? UNKNOWN,
      },
      dependencies,
    )
  }

  get ranUpToMs(): number {
    return this.#ranUpToMs
  }

  /**
   * Whether the producer still has to run on bars that close at `closeMs`, or is running. `isUnderWay`: these bars are
   * being stored.
   */
  isLate(closeMs: number, isUnderWay: boolean): boolean {
    if (this.#ranUpToMs === closeMs) return this.#task.isBusy
    return isUnderWay && this.isDue(closeMs) && this.#task.mayRun()
  }

  get isOut(): boolean {
    return this.#isOut
  }

  /** A producer that is not open yet is always due, because only opening it reveals its schedule. */
  isDue(closeMs: number): boolean {
    const { opened } = this.#task
    if (this.#isOut) return false
    return opened === null || firesBetween(opened.schedule, this.#ranUpToMs, closeMs)
  }

  take(closeMs: number): Promise<void> {
    const task = this.#task
    if (task.isBusy || task.isClosed || !this.isDue(closeMs) || !task.mayRun()) return task.underWay
    this.#ranUpToMs = closeMs
    return task.begin(async () => {
      await task.attempt((startedMs) => this.#run(startedMs))
      this.#isOut = this.#dependencies.isBacktest === true && !task.mayRun()
    })
  }

  close(): Promise<void> {
    return this.#task.close()
  }

  async #run(startedMs: number): Promise<void> {
    const { engine, configuration, producerRunner } = this.#dependencies
    const producer = await this.#task.open()
    const view = marketView(engine.state.market, configuration().universe.symbols, startedMs)
    const run = await producer.run(plainView(view))
    const { schedule } = this.#task.registration
    const ts = timestampAt(this.#ranUpToMs)
    if (!this.#task.isClosed)
      await producerRunner.recordRun({ name: this.name, schedule, run, ts, startedMs })
  }
}
