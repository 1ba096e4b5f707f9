import type { Stamped } from '../../core/log/event.ts'
import type { Timestamp } from '../../core/shared/brand.ts'
import { msOf, timestampAt } from '../../core/shared/time.ts'
import { formerKey, keysToFind, scopedKey } from '../../core/signals/dedupe-keys.ts'
import type { ProducerReport, ProducedSignal } from '../../core/signals/producer-runs.ts'
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

/** Output of a producer, before it is known which rows are new. */
export interface ProducerOutput {
  readonly name: string
  readonly registeredAt?: ProducerReport['registeredAt']
  readonly schedule: string
  /** A row without a time gets the current time, and one without a key gets that of its interval. */
  readonly rows: readonly (ProducedRow & {
    readonly ts?: Timestamp | null
    readonly dedupeKey?: string | null
  })[]
  readonly end: ProducerReport['end']
  readonly error: string | null
  readonly rejected?: ProducerReport['rejected']
  readonly durationMs: number
}

/** Runs producers and records their signals and their health. */
export class ProducerRunner {
  readonly #dependencies: ProducerRunnerDependencies

  constructor(dependencies: ProducerRunnerDependencies) {
    this.#dependencies = dependencies
  }

  now(): number {
    return this.#dependencies.clock.now()
  }

  /** Runs a built-in producer on market data, unless it is in quarantine. */
  async runBuiltIn(producer: Producer, view: MarketView): Promise<void> {
    const { name } = producer
    const { schedule } = builtinOf(name) ?? { schedule: null }
    const nowMs = this.now()
    const record = this.#dependencies.engine.state.signals.producers.runs.get(name)
    if (schedule === null || !mayRun(record, timestampAt(nowMs))) return
    const run = attempted(producer, view)
    await this.recordRun({ name, schedule, run, ts: timestampAt(view.asOfMs), startedMs: nowMs })
  }

  /** Records a run. Its signals have the time of the market data that the producer read. */
  async recordRun({ name, schedule, run, ts, startedMs }: RecordedRun): Promise<void> {
    await this.record({
      name,
      schedule,
      rows: run.status === 'ran' ? run.rows.map(({ type, payload }) => ({ type, payload, ts })) : [],
      end: ENDS[run.status],
      error: run.status === 'ran' ? null : run.reason,
      durationMs: this.now() - startedMs,
    })
  }

  /** Stores the new rows and the result of the run. Resolves to the stored events. */
  async record(output: ProducerOutput): Promise<readonly Stamped[]> {
    const { name, registeredAt, schedule, rows, end, error, rejected = [], durationMs } = output
    const wanted = keyedRows(name, schedule, rows, timestampAt(this.now()))
    try {
      const keys = wanted.flatMap(({ dedupeKey }) => keysToFind(dedupeKey))
      const known = await this.#dependencies.engine.log.findByDedupeKeys(keys)
      const isKnown = ({ dedupeKey }: ProducedSignal): boolean =>
        known.has(dedupeKey) || known.get(formerKey(dedupeKey) ?? dedupeKey)?.source === name
      const fresh = firstOfEach(wanted).filter((row) => !isKnown(row))
      const report = { name, registeredAt, end, rows: fresh, rejected, error, durationMs }
      const outcome = await this.#dependencies.engine.execute({ kind: 'run-producer', report })
      return outcome.status === 'done' ? outcome.events : []
    } catch (problem) {
      this.#dependencies.onError(`could not store the signals of ${name}`, problem)
      return []
    }
  }
}

interface RecordedRun {
  readonly name: string
  readonly schedule: string
  readonly run: ProducerAttempt
  readonly ts: Timestamp
  readonly startedMs: number
}

type ProducerAttempt = ProducerRun | { readonly status: 'failed'; readonly reason: string }

const ENDS = { ran: 'usable', degraded: 'unusable', failed: 'error' } as const

const attempted = (producer: Producer, view: MarketView): ProducerAttempt => {
  try {
    return producer.run(view)
  } catch (error) {
    // A producer that throws must not stop the engine.
    return { status: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Adds to each row the key under which it is stored once. */
const keyedRows = (
  name: string,
  schedule: string,
  rows: ProducerOutput['rows'],
  now: Timestamp,
): readonly ProducedSignal[] => {
  const intervalMs = intervalMsOf(schedule) ?? 1
  return rows.map(({ type, payload, ts = null, dedupeKey = null }): ProducedSignal => ({
    type,
    payload,
    ts: ts ?? now,
    dedupeKey:
      dedupeKey === null
        ? windowKey(name, { type, payload }, ts ?? now, intervalMs)
        : scopedKey('poll', name, dedupeKey),
  }))
}

/** Key for one signal per type, producer and symbol in each interval. */
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

const firstOfEach = (rows: readonly ProducedSignal[]): readonly ProducedSignal[] =>
  [...new Map(rows.toReversed().map((row) => [row.dedupeKey, row])).values()].toReversed()
