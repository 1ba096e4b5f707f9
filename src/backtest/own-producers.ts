import type { Configuration } from '../core/config/schema.ts'
import { asKnown } from '../core/events/catalogue.ts'
import type { Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { timestampAt } from '../core/shared/time.ts'
import { isBuiltin } from '../core/signals/producers.ts'
import { OwnProducerRunner } from '../engine/market/own-producer-runner.ts'
import { storedBars } from '../engine/market/own-task.ts'
import type { ProducerRunner } from '../engine/market/producer-runner.ts'
import type { OwnProducer } from '../ports/producer.ts'
import type { BacktestEngine } from './backtest-engine.ts'

/** The user's producer files. */
export interface OwnProducers {
  readonly names: readonly string[]
  /** Rejects if the file does not define a producer. */
  open(name: string): Promise<OwnProducer>
}

/** Runs of a user's producer, with the names of the report. */
export interface OwnProducerRuns {
  readonly name: string
  readonly runs: number
  readonly signals: number
  /** Number of runs that threw, hung, or returned an invalid answer. */
  readonly failures: number
  readonly last_error: string | null
  /** Time from which the producer no longer ran; null if it ran to the end. */
  readonly set_aside_at: string | null
}

/** Summary of a producer's runs for the user. */
export const ownProducerText = (producer: OwnProducerRuns): string => {
  const { name, runs, signals, failures, last_error: error, set_aside_at: at } = producer
  const counts = `${name}: ${runs} runs, ${signals} signals`
  const failed = failures === 0 ? '' : `, ${failures} failures, the last: ${error}`
  return `${counts}${failed}${at === null ? '' : `; set aside from ${at.slice(0, 16)} on`}`
}

interface OwnProducersDependencies {
  readonly engine: BacktestEngine
  readonly producerRunner: ProducerRunner
  readonly configuration: () => Configuration
  readonly files: OwnProducers | undefined
  readonly onError: (what: string, error: unknown) => void
}

/**
 * Runs the user's producers on the clock of the bars, as in the service. A failing producer does not end the run, and
 * the report names it.
 */
export class OwnProducersInBacktest {
  readonly #engine: BacktestEngine
  readonly #runner: OwnProducerRunner | null
  readonly #runs: Map<string, OwnProducerRuns>

  constructor({ engine, producerRunner, configuration, files, onError }: OwnProducersDependencies) {
    const names = files?.names ?? []
    this.#engine = engine
    this.#runs = new Map(names.map((name) => [name, { name, ...NO_RUNS }]))
    this.#runner =
      files === undefined || names.length === 0
        ? null
        : new OwnProducerRunner({
            engine,
            clock: engine,
            producerRunner,
            configuration,
            names,
            open: (name) => files.open(name),
            onFailure: (name, error) => this.#countFailure(name, error),
            onError,
            isBacktest: true,
          })
  }

  /** Whether a producer runs on bars that close at this time. */
  isDue(closeMs: number): boolean {
    return this.#runner?.isDue(closeMs) ?? false
  }

  /** Runs the producers on bars of one time, after the bars were stored. */
  async take(bars: readonly FeedBar[]): Promise<void> {
    if (this.#runner === null) return
    const stored = storedBars(bars, this.#engine)
    await this.#runner.take(stored.map((bar) => ({ ...bar, backfill: false })))
    for (const [name, before] of this.#runs)
      if (before.set_aside_at === null && this.#runner.isOut(name))
        this.#runs.set(name, { ...before, set_aside_at: timestampAt(this.#engine.now()) })
  }

  record(events: readonly Stamped[]): void {
    if (this.#runner === null) return
    for (const event of events) {
      const known = asKnown(event)
      if (known?.type !== 'producer.run.v1' || known.payload.health === 'stale') continue
      const { name, events_published: published, error } = known.payload
      const before = this.#runs.get(name)
      // A file cannot take the name of a built-in producer.
      if (before === undefined || isBuiltin(name)) continue
      const { runs, signals, last_error: last } = before
      this.#runs.set(name, {
        ...before,
        runs: runs + 1,
        signals: signals + published,
        last_error: error ?? last,
      })
    }
  }

  runs(): readonly OwnProducerRuns[] {
    return [...this.#runs.values()]
  }

  async close(): Promise<void> {
    await this.#runner?.close()
  }

  #countFailure(name: string, error: unknown): void {
    const before = this.#runs.get(name)
    const message = error instanceof Error ? error.message : String(error)
    if (before !== undefined)
      this.#runs.set(name, { ...before, failures: before.failures + 1, last_error: message })
  }
}

const NO_RUNS = { runs: 0, signals: 0, failures: 0, last_error: null, set_aside_at: null }
