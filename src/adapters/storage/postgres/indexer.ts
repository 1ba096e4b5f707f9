import type { LogRecord } from '../../../core/log/event.ts'
import { StoreUnavailableError } from '../../../ports/event-log.ts'
import type { Ask } from './ask.ts'
import { IndexRun, RUN_EVENTS_MAX } from './index-run.ts'
import { INDEXED_UP_TO } from './runs.ts'

// More than these wait only while the server does not answer; what is let go is read again.
const RUNS_WAITING_MAX = 16
const RETRY_MS = 1_000

/**
 * Adds events to the index after they were stored, never in the way of an append: those of this process, and those
 * that another one stored and did not come to add.
 */
export class Indexer {
  readonly #ask: Ask
  readonly #pauseMs: number
  /** Each begins where the one before it ends; only the last may still grow. */
  #runs: IndexRun[] = []
  #indexedUpTo: number | null = null
  #timer: NodeJS.Timeout | null = null
  #indexing: Promise<void> | null = null
  #hasWarned = false

  constructor(ask: Ask, pauseMs: number) {
    this.#ask = ask
    this.#pauseMs = pauseMs
  }

  /** Events that are in the log now. */
  stored(records: readonly LogRecord[]): void {
    for (const record of records) this.#growing(record.seq).add(record)
    if (this.#runs[0]?.isFull === true) this.#start('full runs')
    else this.#startAfter(this.#pauseMs)
  }

  /** Leaves nothing for others to look through, if the server can be reached. */
  async close(): Promise<void> {
    await this.#indexing
    this.#start('everything')
    await this.#indexing
    clearTimeout(this.#timer ?? undefined)
  }

  #growing(seq: number): IndexRun {
    const last = this.#runs.at(-1)
    const isNext = last?.upTo === seq - 1
    if (last !== undefined && isNext && !last.isFull) return last
    if (!isNext || this.#runs.length >= RUNS_WAITING_MAX) this.#runs = []
    const run = new IndexRun(seq)
    this.#runs.push(run)
    return run
  }

  #startAfter(pauseMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#start('everything')
    }, pauseMs).unref()
  }

  #start(what: 'full runs' | 'everything'): void {
    this.#indexing ??= this.#index(what)
      .then(
        () => this.#pauseMs,
        (error: unknown) => {
          this.#warn(error)
          return RETRY_MS
        },
      )
      .then((pauseMs) => {
        this.#indexing = null
        if (this.#runs.length > 0) this.#startAfter(pauseMs)
      })
  }

  async #index(what: 'full runs' | 'everything'): Promise<void> {
    for (;;) {
      const [run] = this.#runs
      if (run === undefined || (what === 'full runs' && !run.isFull)) return
      const upTo = this.#indexedUpTo ?? (await this.#readIndexedUpTo())
      // Until the answer is there nobody knows.
      this.#indexedUpTo = null
      if (run.upTo <= upTo) {
        this.#runs.shift()
        this.#indexedUpTo = upTo
      } else {
        // A run that is on its way must not grow. If it does not arrive, it is read from the log.
        const next = run.fromSeq === upTo + 1 ? this.#runs.shift() : await this.#readRun(upTo)
        if (next !== undefined && (await this.#ask(next.statement)).length === 1)
          this.#indexedUpTo = next.upTo
      }
    }
  }

  async #readIndexedUpTo(): Promise<number> {
    const [row] = await this.#ask<[number]>({
      name: 'indexed-up-to',
      text: `SELECT ${INDEXED_UP_TO}`,
      values: [],
    })
    return row?.[0] ?? 0
  }

  async #readRun(after: number): Promise<IndexRun> {
    const rows = await this.#ask<[number, string, string | null, string | null, string]>({
      name: 'not-indexed',
      text: 'SELECT seq, type, source, trace_id, payload FROM events WHERE seq > $1 ORDER BY seq LIMIT $2',
      values: [after, RUN_EVENTS_MAX],
    })
    // Only if somebody removed them: there is nothing to wait for.
    if (rows.length === 0) throw new Error(`there is no event behind ${after}`)
    const run = new IndexRun(after + 1)
    for (const [seq, type, source, traceId, payload] of rows) run.add({ seq, type, source, traceId, payload })
    return run
  }

  /** Whoever reads or appends hears that the server is away; that it will never take a run is to be heard here. */
  #warn(error: unknown): void {
    if (error instanceof StoreUnavailableError || this.#hasWarned) return
    this.#hasWarned = true
    process.emitWarning(`events are not indexed, so reading becomes slow: ${String(error)}`)
  }
}
