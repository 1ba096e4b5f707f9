import type { Stamped } from '../../core/log/event.ts'
import type { Timestamp } from '../../core/shared/brand.ts'
import { msOf, timestampAt } from '../../core/shared/time.ts'
import { formerKey, keysToFind, scopedKey } from '../../core/signals/dedupe-keys.ts'
import type { ProducerReport, Row } from '../../core/signals/producer-runs.ts'
import { builtinOf, mayRun } from '../../core/signals/producers.ts'
import { canonicalSymbol } from '../../core/shared/symbol.ts'
import { intervalMsOf } from '../../core/shared/cron.ts'
import type { MarketView } from '../../core/market/readings.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ProducedRow, Producer, ProducerRun } from '../../ports/producer.ts'
import type { Executor } from '../plan.ts'

export interface ProducerRunnerDependencies {
  readonly engine: Executor
  readonly clock: Clock
  readonly onError: (what: string, error: unknown) => void
}

/** What a producer returned, before it is known which rows are new. */
export interface ProducerOutput {
  readonly name: string
  readonly registeredAt?: ProducerReport['registeredAt']
  readonly schedule: string
  /** A row without a time of its own gets the current time. */
  readonly rows: readonly (ProducedRow & {
    readonly ts: Timestamp | null
    readonly dedupeKey: string | null
  })[]
  readonly end: ProducerReport['end']
  readonly error: string | null
  readonly rejected: ProducerReport['rejected']
  readonly durationMs: number
}

/** Runs producers and records their signals and their health. */
export class ProducerRunner {
  readonly #engine: Executor
  readonly #clock: Clock
  readonly #onError: ProducerRunnerDependencies['onError']

  constructor({ engine, clock, onError }: ProducerRunnerDependencies) {
    this.#engine = engine
    this.#clock = clock
    this.#onError = onError
  }

  now(): number {
    return this.#clock.now()
  }

  /** Runs a built-in producer on market data, unless it is in quarantine. */
  async runBuiltIn(producer: Producer, view: MarketView): Promise<void> {
    const { name } = producer
    const { schedule } = builtinOf(name) ?? { schedule: null }
    const nowMs = this.#clock.now()
    const record = this.#engine.state.signals.producers.runs.get(name)
    if (schedule === null || !mayRun(record, timestampAt(nowMs))) return
    const result = attempted(producer, view)
    const ts = timestampAt(view.asOfMs)
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

  /** Stores the rows that are new, and how the run went. Resolves to what was stored. */
  async record(output: ProducerOutput): Promise<readonly Stamped[]> {
    const { name, registeredAt, schedule, rows, end, error, rejected, durationMs } = output
    const wanted = keyedRows(name, schedule, rows, timestampAt(this.#clock.now()))
    try {
      const keys = wanted.flatMap(({ dedupeKey }) => keysToFind(dedupeKey))
      const known = await this.#engine.log.findByDedupeKeys(keys)
      const isKnown = ({ dedupeKey }: Row): boolean =>
        known.has(dedupeKey) || known.get(formerKey(dedupeKey) ?? dedupeKey)?.source === name
      const fresh = firstOfEach(wanted).filter((row) => !isKnown(row))
      const report = { name, registeredAt, end, rows: fresh, rejected, error, durationMs }
      const outcome = await this.#engine.execute({ kind: 'run-producer', report })
      return outcome.status === 'done' ? outcome.events : []
    } catch (problem) {
      this.#onError(`could not store the signals of ${name}`, problem)
      return []
    }
  }
}

type Attempt = ProducerRun | { readonly status: 'failed'; readonly reason: string }

const attempted = (producer: Producer, view: MarketView): Attempt => {
  try {
    return producer.run(view)
  } catch (error) {
    // A producer that throws must not stop the engine.
    return { status: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}

const endOf = (attempt: Attempt): ProducerOutput['end'] => {
  if (attempt.status === 'failed') return 'error'
  return attempt.status === 'ran' ? 'usable' : 'unusable'
}

const reasonOf = (attempt: Attempt): string | null => (attempt.status === 'ran' ? null : attempt.reason)

/** Each with the key by which it is stored once. */
export const keyedRows = (
  name: string,
  schedule: string,
  rows: readonly (ProducedRow & Partial<ProducerOutput['rows'][number]>)[],
  now: Timestamp,
): readonly Row[] => {
  const intervalMs = intervalMsOf(schedule) ?? 1
  return rows.map(({ type, payload, ts = null, dedupeKey = null }): Row => ({
    type,
    payload,
    ts: ts ?? now,
    dedupeKey:
      dedupeKey === null
        ? windowKey(name, { type, payload }, ts ?? now, intervalMs)
        : scopedKey('poll', name, dedupeKey),
  }))
}

/** One signal per type, producer and symbol in each interval. */
const windowKey = (
  name: string,
  { type, payload }: ProducedRow,
  ts: Timestamp,
  intervalMs: number,
): string => {
  const { symbol } = payload
  const canonical = typeof symbol === 'string' ? canonicalSymbol(symbol) : ''
  return scopedKey(type, name, `${canonical}:${Math.floor(msOf(ts) / intervalMs)}`)
}

const firstOfEach = (rows: readonly Row[]): readonly Row[] =>
  [...new Map(rows.toReversed().map((row) => [row.dedupeKey, row])).values()].toReversed()
