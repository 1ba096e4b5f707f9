import { isSound } from '../core/events/catalogue.ts'
import { stampedFrom, type LogRecord, type Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'

/** Recorded events around bars that closed together, in order. */
export interface SurroundingEvents {
  /** Since the previous bars. */
  readonly before: readonly Stamped[]
  /** Right after these bars. */
  readonly after: readonly Stamped[]
}

/** A feed that also has the events between its bars. */
export interface EventFeed extends MarketFeed {
  /** Around the bars that are being delivered. */
  surroundingEvents(): SurroundingEvents
}

interface BarGroup extends SurroundingEvents {
  readonly bars: FeedBar[]
  readonly after: Stamped[]
}

/**
 * A cycle runs up to a second after the close of a bar and uses the signals that producers recorded by then: these
 * count as recorded at the close.
 */
const AFTER_MS = 1000

/**
 * The inputs of a log: prices, signals, contributors, producers. The decisions are left out, since the run makes its
 * own.
 */
export class LogFeed implements EventFeed {
  readonly name = 'log'
  readonly producers: readonly Producer[] = []
  readonly #log: Pick<EventLog, 'read'>
  readonly #abort = new AbortController()
  #events: SurroundingEvents = { before: [], after: [] }
  #delivering: Promise<void> = Promise.resolve()
  #state: FeedStatus['state'] = 'idle'
  #error: string | null = null

  constructor(log: Pick<EventLog, 'read'>) {
    this.#log = log
  }

  async start({ symbols }: FeedStart, listener: FeedListener): Promise<void> {
    const [first] = await this.#log.read({ types: ['market.bar'], order: 'asc', limit: 1 })
    if (first === undefined) throw new Error('the log has no bars')
    this.#state = 'running'
    const wanted = new Set(symbols.map(canonicalSymbol))
    this.#delivering = this.#deliver(wanted, listener).catch((error: unknown) => {
      this.#error = `could not read the log to its end: ${error instanceof Error ? error.message : String(error)}`
    })
  }

  surroundingEvents(): SurroundingEvents {
    return this.#events
  }

  status(): FeedStatus {
    const state = this.#error === null ? this.#state : 'failing'
    return { state, lastBarAtMs: null, clockOffsetMs: null, error: this.#error }
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#delivering
    this.#state = 'stopped'
  }

  async #deliver(wanted: ReadonlySet<string>, listener: FeedListener): Promise<void> {
    const others = new Set<string>()
    let isEmpty = true
    for await (const group of this.#groups(wanted, others)) {
      if (this.#abort.signal.aborted) return
      isEmpty = false
      this.#events = group
      await listener.onBars(group.bars)
    }
    if (isEmpty) {
      this.#error = `the log has no bars of ${[...wanted].join(', ')}; it has ${[...others].join(', ') || 'none that can be read'}`
      return
    }
    this.#state = 'ended'
  }

  /** Adds the symbols that are not wanted to `others`. */
  async *#groups(wanted: ReadonlySet<string>, others: Set<string>): AsyncGenerator<BarGroup> {
    let group: BarGroup | null = null
    let between: Stamped[] = []
    for await (const record of this.#records()) {
      const event = inputOf(record)
      if (event === null) continue
      if (event.type !== 'market.bar.v1') {
        if (group !== null && between.length === 0 && isRecordedAt(group, event)) group.after.push(event)
        else between.push(event)
        continue
      }
      const bar = barOf(event)
      const symbol = canonicalSymbol(bar.symbol)
      if (!wanted.has(symbol)) {
        others.add(symbol)
        continue
      }
      if (group !== null && group.bars[0]?.close_ts !== bar.close_ts) {
        yield group
        group = null
      }
      if (group === null) {
        group = { bars: [], before: between, after: [] }
        between = []
      }
      group.bars.push(bar)
    }
    if (group !== null) yield group
  }

  async *#records(): AsyncGenerator<LogRecord> {
    let after = 0
    for (;;) {
      const page = await this.#log.read({ after, types: INPUTS, order: 'asc', limit: PAGE_EVENTS })
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_EVENTS) return
      after = last.seq
    }
  }
}

/** Inputs of the engine, without its decisions. */
const INPUTS = [
  'market.bar',
  'signal',
  'attribution.recorded',
  'contributor',
  'producer',
  'learning.feedback',
] as const

const PAGE_EVENTS = 1000

const isRecordedAt = ({ bars: [first] }: BarGroup, { recordedAt }: Stamped): boolean =>
  first !== undefined && Date.parse(recordedAt) <= Date.parse(first.close_ts) + AFTER_MS

const barOf = ({ payload }: Stamped): FeedBar => {
  const { feed: _feed, ...bar } = payload as unknown as FeedBar & { readonly feed: string }
  return bar
}

/** Null for a damaged record: verification reports it. */
const inputOf = (record: LogRecord): Stamped | null => {
  try {
    const event = stampedFrom(record)
    return isSound(event) ? event : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
