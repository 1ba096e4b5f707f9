import type { Configuration } from '../../core/config/schema.ts'
import type { FeedBar } from '../../core/market/bar.ts'
import { marketView } from '../../core/market/readings.ts'
import { firesBetween } from '../../core/shared/cron.ts'
import { timestampAt } from '../../core/shared/time.ts'
import { mayRun, ownEndpoint } from '../../core/signals/producers.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OwnProducer, ProducerRun } from '../../ports/producer.ts'
import type { Executor } from '../plan.ts'
import type { ProducerRunner } from './producer-runner.ts'

export interface OwnProducerRunnerDependencies {
  readonly engine: Executor
  readonly clock: Clock
  readonly configuration: () => Configuration
  readonly producerRunner: ProducerRunner
  /** The files there are. */
  readonly names: readonly string[]
  /** Rejects if the file is none of a producer. */
  readonly open: (name: string) => Promise<OwnProducer>
  readonly onError: (what: string, error: unknown) => void
}

/** Runs the producers of the user on their schedules, after a bar was stored. Nobody waits for one that takes long. */
export class OwnProducerRunner {
  readonly #tasks: readonly ProducerTask[]
  #isClosed = false

  constructor(dependencies: OwnProducerRunnerDependencies) {
    this.#tasks = dependencies.names.map((name) => new ProducerTask(name, dependencies))
  }

  /** After these bars were stored. Resolves when all producers that are due have run. */
  async take(bars: readonly FeedBar[]): Promise<void> {
    const closes = bars
      .filter(({ backfill }) => !backfill)
      .map(({ close_ts: closeTs }) => Date.parse(closeTs))
    if (this.#isClosed || closes.length === 0) return
    await Promise.all(this.#tasks.map((task) => task.take(Math.max(...closes))))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#tasks.map((task) => task.close()))
  }
}

/** Until its file says otherwise, and for one that cannot be read. */
const UNKNOWN = { domain: 'technical', schedule: '*/15 * * * *' } as const

class ProducerTask {
  readonly #name: string
  readonly #dependencies: OwnProducerRunnerDependencies
  #opened: OwnProducer | null = null
  #ranUpToMs = 0
  #isBusy = false
  #isClosed = false
  #underWay: Promise<void> = Promise.resolve()

  constructor(name: string, dependencies: OwnProducerRunnerDependencies) {
    this.#name = name
    this.#dependencies = dependencies
  }

  take(closeMs: number): Promise<void> {
    const { engine, clock, onError } = this.#dependencies
    const record = engine.state.signals.producers.runs.get(this.#name)
    if (this.#isBusy || this.#isClosed || !mayRun(record, timestampAt(clock.now()))) return this.#underWay
    const { schedule } = this.#opened ?? UNKNOWN
    // The first bar opens it: only then its schedule is known.
    if (this.#opened !== null && !firesBetween(schedule, this.#ranUpToMs, closeMs)) return this.#underWay
    this.#isBusy = true
    this.#ranUpToMs = closeMs
    this.#underWay = this.#run()
      .catch((error: unknown) => onError(`could not run the producer ${this.#name}`, error))
      .finally(() => {
        this.#isBusy = false
      })
    return this.#underWay
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end()
    await this.#underWay
    await this.#end()
  }

  async #run(): Promise<void> {
    const { engine, clock, configuration } = this.#dependencies
    const startedMs = clock.now()
    try {
      const producer = this.#opened ?? (await this.#dependencies.open(this.#name))
      if (this.#isClosed) return await producer.close()
      this.#opened = producer
      await this.#register(producer)
      const view = marketView(engine.state.market, configuration().universe.symbols, startedMs)
      const run = await producer.run(view)
      if (!this.#isClosed) await this.#record(run, startedMs)
    } catch (error) {
      if (!this.#isClosed) await this.#fail(error, startedMs)
    }
  }

  async #record(run: ProducerRun, startedMs: number): Promise<void> {
    const ts = timestampAt(this.#ranUpToMs)
    await this.#dependencies.producerRunner.record({
      name: this.#name,
      schedule: (this.#opened ?? UNKNOWN).schedule,
      rows: run.status === 'ran' ? run.rows.map((row) => ({ ...row, ts, dedupeKey: null })) : [],
      end: run.status === 'ran' ? 'usable' : 'unusable',
      error: run.status === 'ran' ? null : run.reason,
      rejected: [],
      durationMs: this.#dependencies.clock.now() - startedMs,
    })
  }

  async #fail(error: unknown, startedMs: number): Promise<void> {
    const { clock, producerRunner, onError, engine } = this.#dependencies
    onError(`the producer ${this.#name} failed`, error)
    const { schedule } = this.#opened ?? UNKNOWN
    await this.#end()
    if (!engine.state.signals.producers.registered.has(this.#name))
      await this.#register(UNKNOWN).catch(() => undefined)
    await producerRunner.record({
      name: this.#name,
      schedule,
      rows: [],
      end: 'error',
      error: (error instanceof Error ? error.message : String(error)).slice(0, 1000),
      rejected: [],
      durationMs: clock.now() - startedMs,
    })
  }

  /** As an author, with the domain and schedule that its file states now. */
  async #register({ domain, schedule }: Pick<OwnProducer, 'domain' | 'schedule'>): Promise<void> {
    const { engine } = this.#dependencies
    const endpoint = ownEndpoint('producer', this.#name)
    const known = engine.state.signals.producers.registered.get(this.#name)
    if (known?.endpoint === endpoint && known.domain === domain && known.schedule === schedule) return
    if (known?.endpoint === endpoint)
      await engine.execute({ kind: 'remove-producer', name: this.#name, surface: 'system' })
    const producer = { name: this.#name, domain, endpoint, schedule }
    const outcome = await engine.execute({ kind: 'register-producer', producer, surface: 'system' })
    if (outcome.status === 'refused') throw new Error(outcome.refusal.detail)
  }

  async #end(): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    await opened?.close()
  }
}
