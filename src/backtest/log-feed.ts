import { proposalOfIntent, type Proposal } from '../core/brain/propose-trade.ts'
import { asKnown, isSound, type PayloadOf } from '../core/events/catalogue.ts'
import { stampedFrom, type Stamped } from '../core/log/event.ts'
import { payloadOf } from '../core/log/payload.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { ruleIn } from '../core/trading/positions/positions.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import { readPages } from '../engine/read-pages.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'

/** An input of the recorded engine. */
export interface RecordedInput {
  readonly event: Stamped
  /** Proposal of a strategy that led to the event and is decided again; null for an event that is folded as it is. */
  readonly proposal: Proposal | null
}

/** Recorded inputs around bars that closed together, in order. */
export interface SurroundingEvents {
  /** Since the previous bars. */
  readonly before: readonly RecordedInput[]
  /** Right after these bars. */
  readonly after: readonly RecordedInput[]
}

/** A feed that also has the events between its bars. */
export interface EventFeed extends MarketFeed {
  /** Around the bars that are being delivered. */
  surroundingEvents(): SurroundingEvents
}

interface BarGroup extends SurroundingEvents {
  readonly bars: FeedBar[]
  readonly after: RecordedInput[]
}

/** Without a cycle in the log: what producers recorded within this time after a close is what they made of the bar. */
const AFTER_MS = 1000

/**
 * The inputs of a log: prices, signals, contributors, producers. The decisions are left out, since the run makes its
 * own.
 */
export class LogFeed implements EventFeed {
  readonly name = 'log'
  readonly producers: readonly Producer[] = []
  readonly #log: Pick<EventLog, 'read'>
  readonly #afterMs: number
  readonly #abort = new AbortController()
  #events: SurroundingEvents = { before: [], after: [] }
  #delivering: Promise<void> = Promise.resolve()
  #state: FeedStatus['state'] = 'idle'
  #error: string | null = null

  /** A cycle waits for producers up to `afterMs` after the close of a bar. */
  constructor(log: Pick<EventLog, 'read'>, afterMs = AFTER_MS) {
    this.#log = log
    this.#afterMs = afterMs
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
    let between: RecordedInput[] = []
    /** Whether the cycle of these bars has run: what follows came too late for it. */
    let isDecided = false
    const strategies = new RecordedStrategies()
    for await (const event of eventsOf(this.#log)) {
      if (event.type === 'brain.cycle.v1') {
        if (group === null || isDecided || !isCycleOf(group, event)) continue
        isDecided = true
        group.after.push(...between.splice(0))
        continue
      }
      if (event.type !== 'market.bar.v1') {
        const input = strategies.inputFrom(event)
        if (input === null) continue
        const isAfter = !isDecided && between.length === 0
        if (group !== null && isAfter && this.#isRecordedAt(group, event)) group.after.push(input)
        else between.push(input)
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
        isDecided = false
      }
      group.bars.push(bar)
    }
    if (group !== null) yield group
  }

  #isRecordedAt({ bars: [first] }: BarGroup, { recordedAt }: Stamped): boolean {
    return first !== undefined && Date.parse(recordedAt) <= Date.parse(first.close_ts) + this.#afterMs
  }
}

/**
 * Inputs of the engine. Decisions of the engine are left out, except cycles, for their place between the inputs, and the
 * intents and exit orders of strategies, which hold the answers of the strategies.
 */
const INPUTS = [
  'brain.cycle',
  'execution.order_submitted',
  'execution.position_opened',
  'execution.trade_intent',
  'market.bar',
  'signal',
  'attribution.recorded',
  'contributor',
  'producer',
  'learning.feedback',
] as const

const PAGE_EVENTS = 1000

/** Finds the proposals of strategies among the trades of the brain, of operators and of stops. */
class RecordedStrategies {
  /** Strategy of each position that a strategy opened. */
  readonly #rules = new Map<string, string>()

  /** Returns null for a decision of the engine. */
  inputFrom(event: Stamped): RecordedInput | null {
    if (!event.type.startsWith('execution.')) return { event, proposal: null }
    const proposal = this.#proposalIn(event)
    return proposal === null ? null : { event, proposal }
  }

  #proposalIn(event: Stamped): Proposal | null {
    const known = asKnown(event)
    switch (known?.type) {
      case 'execution.trade_intent.v1': {
        const rule = ruleIn(known.payload.conviction_id)
        return rule === null ? null : proposalOfIntent(rule, known.payload)
      }
      case 'execution.position_opened.v1': {
        const rule = ruleIn(known.payload.conviction_id)
        if (rule !== null) this.#rules.set(known.payload.position_id, rule)
        return null
      }
      case 'execution.order_submitted.v1': {
        const { exit_reason: exitReason, position_id: positionId, symbol } = known.payload
        const rule = this.#rules.get(positionId)
        if (exitReason !== 'bias_flip' || rule === undefined) return null
        return { rule, symbol, direction: 'flat', conviction: 0 }
      }
      default:
        return null
    }
  }
}

/** Whether a cycle on the grid decided at the close of these bars. Those on request are not repeated. */
const isCycleOf = ({ bars: [first] }: BarGroup, { payload }: Stamped): boolean => {
  const { trigger, started_at, as_of } = payload as unknown as PayloadOf<'brain.cycle.v1'>
  if (first === undefined || (trigger !== 'schedule' && trigger !== 'backtest')) return false
  const lateMs = Date.parse(as_of ?? started_at) - Date.parse(first.close_ts)
  return lateMs >= 0 && lateMs <= AFTER_MS
}

const barOf = ({ payload }: Stamped): FeedBar => {
  const { feed: _feed, ...bar } = payload as unknown as FeedBar & { readonly feed: string }
  return bar
}

/** Without damaged records: verification reports them. */
async function* eventsOf(log: Pick<EventLog, 'read'>): AsyncGenerator<Stamped> {
  for await (const page of readPages(log, { after: 0, types: INPUTS, order: 'asc', limit: PAGE_EVENTS })) {
    for (const record of page) {
      const event = payloadOf(record) === null ? null : stampedFrom(record)
      if (event !== null && isSound(event)) yield event
    }
  }
}
