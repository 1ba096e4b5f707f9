import type { ProducerReport, Row } from '../../core/signals/producer-runs.ts'
import { BUILTIN_PRODUCERS } from '../../core/signal-types/all.ts'
import { mayRun } from '../../core/signals/producers.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { intervalMsOf } from '../../core/shared/cron.ts'
import type { MarketView } from '../../core/market/readings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ProducedRow, Producer, ProducerRun } from '../../ports/producer.ts'
import type { Executor } from '../executor.ts'

export interface ProducerDeskDependencies {
  readonly engine: Executor
  readonly clock: Clock
  readonly onError: (what: string, error: unknown) => void
}

/** What a producer said, before it is known which of it is new. */
export interface Findings {
  readonly name: string
  readonly schedule: string
  /** Without a time of its own a row is of now. */
  readonly rows: readonly (ProducedRow & { readonly ts: string | null; readonly dedupeKey: string | null })[]
  readonly end: ProducerReport['end']
  readonly error: string | null
  readonly rejected: ProducerReport['rejected']
  readonly durationMs: number
}

/** Runs producers and records what came of it. */
export class ProducerRunner {
  readonly #engine: Executor
  readonly #clock: Clock
  readonly #onError: ProducerDeskDependencies['onError']

  constructor({ engine, clock, onError }: ProducerDeskDependencies) {
    this.#engine = engine
    this.#clock = clock
    this.#onError = onError
  }

  /** Computes from market data. A producer in quarantine waits. */
  async runBuiltIn(producer: Producer, view: MarketView): Promise<void> {
    const { name } = producer
    const { schedule } = BUILTIN_PRODUCERS[name] ?? { schedule: null }
    const nowMs = this.#clock.now()
    const record = this.#engine.state.signals.producers.runs.get(name)
    if (schedule === null || !mayRun(record, new Date(nowMs).toISOString())) return
    const result = attempted(producer, view)
    const ts = new Date(view.asOfMs).toISOString()
    const rows = result.status === 'ran' ? result.rows : []
    await this.record({
      name,
      schedule,
      rows: rows.map(({ type, payload }) => ({ type, payload, ts, dedupeKey: null })),
      end: endOf(result),
      error: reasonOf(result),
      rejected: [],
      durationMs: this.#clock.now() - nowMs,
    })
  }

  /** Stores what is new of it, and how the run went. */
  async record({ name, schedule, rows, end, error, rejected, durationMs }: Findings): Promise<void> {
    const intervalMs = intervalMsOf(schedule) ?? 1
    const now = new Date(this.#clock.now()).toISOString()
    const wanted = rows.map(({ type, payload, ts, dedupeKey }): Row => ({
      type,
      payload,
      ts: ts ?? now,
      dedupeKey:
        dedupeKey === null
          ? windowKey(name, { type, payload }, ts ?? now, intervalMs)
          : `poll:${name}:${dedupeKey}`,
    }))
    try {
      const known = await this.#engine.log.findByDedupeKeys(wanted.map(({ dedupeKey }) => dedupeKey))
      const fresh = firstOfEach(wanted).filter(({ dedupeKey }) => !known.has(dedupeKey))
      const report = { name, end, rows: fresh, rejected, error, durationMs }
      await this.#engine.execute({ kind: 'run-producer', report })
    } catch (problem) {
      this.#onError(`what ${name} said could not be stored`, problem)
    }
  }
}

type Attempt = ProducerRun | { readonly status: 'failed'; readonly reason: string }

const attempted = (producer: Producer, view: MarketView): Attempt => {
  try {
    return producer.run(view)
  } catch (error) {
    // A broken producer is one producer less, not an engine less.
    return { status: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}

const endOf = (attempt: Attempt): Findings['end'] => {
  if (attempt.status === 'failed') return 'error'
  return attempt.status === 'ran' ? 'usable' : 'unusable'
}

const reasonOf = (attempt: Attempt): string | null => (attempt.status === 'ran' ? null : attempt.reason)

/** One word per type, producer and symbol in each interval. */
const windowKey = (name: string, { type, payload }: ProducedRow, ts: string, intervalMs: number): string => {
  const { symbol } = payload
  const canonical = typeof symbol === 'string' ? canonicalSymbol(symbol) : ''
  return `${type}:${name}:${canonical}:${Math.floor(Date.parse(ts) / intervalMs)}`
}

const firstOfEach = (rows: readonly Row[]): readonly Row[] =>
  [...new Map(rows.toReversed().map((row) => [row.dedupeKey, row])).values()].toReversed()
