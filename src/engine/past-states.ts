import { configurationFrom } from '../core/config/recorded.ts'
import type { Configuration } from '../core/config/schema.ts'
import { headOf, type LogRecord } from '../core/log/event.ts'
import { payloadOf } from '../core/log/payload.ts'
import type { PastPoint } from '../core/shared/as-of.ts'
import type { Timestamp } from '../core/shared/brand.ts'
import { timestampAt } from '../core/shared/time.ts'
import type { State } from '../core/state.ts'
import type { EventLog } from '../ports/event-log.ts'
import { endOfBatch } from './batch-bounds.ts'
import { believedLog } from './believed-log.ts'
import type { Trust } from './integrity/trust.ts'
import { catchUp, EMPTY_MEMORY, fold, recall, type Memory } from './memory.ts'
import { firstSeqFrom } from './queries/first-seq-from.ts'

/** State after a past event, and the log up to it. */
export interface Past {
  readonly state: State
  readonly log: Pick<EventLog, 'read' | 'get'>
  readonly seq: number
  /** The requested time, or that of the event. */
  readonly time: Timestamp
  /** Current time for readers of the state. In a log with a time from the future, it does not advance. */
  readonly now: Timestamp
  /** Settings in force at that time; null if the log does not hold them. */
  readonly configuration: Configuration | null
}

export type PastAnswer =
  | { readonly status: 'found'; readonly past: Past }
  | { readonly status: 'out-of-range'; readonly detail: string }
  /** The queue is full: `WAITING_MAX` requests wait. */
  | { readonly status: 'busy' }

/** Limit of kept states, which serve as answers and as starting points of later folds. */
const KEPT = 4

/** Limit of waiting requests. It is low because a fold from the first event of a long log is slow. */
const WAITING_MAX = 8

/**
 * Number of saved events from which reading a snapshot is worthwhile. A snapshot is read in one piece; folding this
 * many events takes no longer and lets the event loop run.
 */
const WORTH_READING = 2000

/** Folds the log up to any event. Runs one fold at a time, and lets the event loop run. */
export class PastStates {
  readonly #log: EventLog
  readonly #trust: Trust | null
  /** Kept states, latest used last. */
  #kept: readonly Memory[] = []
  #line: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(log: EventLog, trust: Trust | null) {
    this.#log = log
    this.#trust = trust
  }

  async at(point: PastPoint, nowMs: number): Promise<PastAnswer> {
    const place = await this.#placeOf(point, nowMs)
    if (place.status === 'out-of-range') return place
    const { seq } = place
    if (this.#waiting >= WAITING_MAX) return { status: 'busy' }
    this.#waiting += 1
    const folded = this.#line.then(() => this.#foldedTo(seq))
    this.#line = folded.catch(() => undefined)
    try {
      const { state, head } = await folded
      const isTime = point.kind === 'time'
      const time = isTime ? point.time : (head.recordedAt as Timestamp)
      const believed = believedLog(this.#log, { state, fresh: () => Promise.resolve(state) })
      const log = logUpTo(believed, seq)
      const now = isTime ? point.time : state.decidedAt
      const configuration = await configurationUpTo(log)
      return { status: 'found', past: { state, log, seq, time, now, configuration } }
    } finally {
      this.#waiting -= 1
    }
  }

  async #placeOf(
    point: PastPoint,
    nowMs: number,
  ): Promise<{ readonly status: 'found'; readonly seq: number } | (PastAnswer & { status: 'out-of-range' })> {
    const head = await this.#log.head()
    if (head.seq === 0) return outOfRange('the log has no events yet')
    if (point.kind === 'seq') {
      if (point.seq === 0) return outOfRange('the first event has number 1')
      if (point.seq > head.seq) return outOfRange(`the last event has number ${head.seq}`)
      return { status: 'found', seq: point.seq }
    }
    const atMs = Date.parse(point.time)
    if (atMs > nowMs) return outOfRange(`${point.time} has not come yet`)
    const seq = (await firstSeqFrom(this.#log, timestampAt(atMs + 1))) - 1
    if (seq > 0) return { status: 'found', seq }
    const [first] = await this.#log.read({ order: 'asc', limit: 1 })
    return outOfRange(`the first event was recorded at ${first?.recordedAt}`)
  }

  async #foldedTo(seq: number): Promise<Memory> {
    const start = await this.#startFor(seq)
    if (start.head.seq === seq) return this.#keep(start)
    // Signatures cover whole batches.
    const upTo = this.#trust === null ? seq : await endOfBatch(this.#log, seq)
    let before = start
    let wanted: Memory | null = null
    await catchUp(this.#log, start, {
      trust: this.#trust,
      upTo,
      onPage: ({ memory, records, events }) => {
        const index = seq - before.head.seq - 1
        const record = records[index]
        if (record?.seq === seq) {
          const state = events.slice(0, index + 1).reduce(fold, before.state)
          wanted = { state, head: headOf(record) }
        }
        before = memory
      },
    })
    if (wanted === null) throw new Error(`event ${seq} is missing`)
    return this.#keep(wanted)
  }

  /** The nearest earlier state: one that is kept here, or the newest snapshot. */
  async #startFor(seq: number): Promise<Memory> {
    const near = [...this.#kept, EMPTY_MEMORY]
      .filter(({ head }) => head.seq <= seq)
      .reduce((one, other) => (other.head.seq > one.head.seq ? other : one), EMPTY_MEMORY)
    if (near.head.seq === seq) return near
    const isNearer = (kept: number): boolean => kept <= seq && kept - near.head.seq >= WORTH_READING
    const recalled = await recall(this.#log, this.#trust, isNearer)
    return recalled.head.seq > near.head.seq ? recalled : near
  }

  #keep(memory: Memory): Memory {
    this.#kept = [...this.#kept.filter(({ head }) => head.seq !== memory.head.seq), memory].slice(-KEPT)
    return memory
  }
}

const outOfRange = (detail: string) => ({ status: 'out-of-range', detail }) as const

/** The log up to `seq`, ignoring later events. */
const logUpTo = (log: EventLog, seq: number): Past['log'] => ({
  read: (query) => log.read({ ...query, before: Math.min(query.before ?? Infinity, seq + 1) }),
  get: async (id) => {
    const record = await log.get(id)
    return record !== null && record.seq <= seq ? record : null
  },
})

const SETTINGS = ['system.started', 'system.config_changed'] as const

/** Settings from the latest event that holds any, or null. */
const configurationUpTo = async (log: Past['log']): Promise<Configuration | null> => {
  const [newest] = await log.read({ types: SETTINGS, order: 'desc', limit: 1 })
  return newest === undefined ? null : settingsIn(newest)
}

const settingsIn = (record: LogRecord): Configuration | null =>
  configurationFrom(payloadOf(record)?.['configuration'])
