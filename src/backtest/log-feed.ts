import { isSound } from '../core/events/catalogue.ts'
import { stampedFrom, type LogRecord, type Stamped } from '../core/log/event.ts'
import type { FeedBar } from '../core/market/bar.ts'
import { canonicalSymbol } from '../core/shared/symbol.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../ports/market-feed.ts'
import type { Producer } from '../ports/producer.ts'

/** What was said around bars that closed together, in order. */
export interface Words {
  /** Since the bars before them. */
  readonly before: readonly Stamped[]
  /** Right behind them. */
  readonly after: readonly Stamped[]
}

/** A feed that also knows what was said between its bars. */
export interface HearingFeed extends MarketFeed {
  /** Around those that are being told. */
  words(): Words
}

interface Chapter extends Words {
  readonly bars: FeedBar[]
  readonly after: Stamped[]
}

/**
 * The cycles of a service run up to a second behind the close of a bar, and hear what producers made of it by then:
 * so long a word counts as said at the close.
 */
const AFTER_MS = 1000

/**
 * What came from outside, as a log has it: prices, signals, and who speaks. What the engine made of it then is left out:
 * that is what the run decides anew.
 */
export class LogFeed implements HearingFeed {
  readonly name = 'log'
  readonly producers: readonly Producer[] = []
  readonly #log: Pick<EventLog, 'read'>
  readonly #abort = new AbortController()
  #words: Words = { before: [], after: [] }
  #telling: Promise<void> = Promise.resolve()
  #state: FeedStatus['state'] = 'idle'
  #trouble: string | null = null

  constructor(log: Pick<EventLog, 'read'>) {
    this.#log = log
  }

  async start({ symbols }: FeedStart, listener: FeedListener): Promise<void> {
    const [first] = await this.#log.read({ types: ['market.bar'], order: 'asc', limit: 1 })
    if (first === undefined) throw new Error('the log has no bars')
    this.#state = 'running'
    const wanted = new Set(symbols.map(canonicalSymbol))
    this.#telling = this.#tell(wanted, listener).catch((error: unknown) => {
      this.#trouble = `the log could not be read to its end: ${error instanceof Error ? error.message : String(error)}`
    })
  }

  words(): Words {
    return this.#words
  }

  status(): FeedStatus {
    const state = this.#trouble === null ? this.#state : 'failing'
    return { state, lastBarAtMs: null, clockOffsetMs: null, error: this.#trouble }
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#telling
    this.#state = 'stopped'
  }

  async #tell(wanted: ReadonlySet<string>, listener: FeedListener): Promise<void> {
    for await (const chapter of this.#chapters(wanted)) {
      if (this.#abort.signal.aborted) return
      this.#words = chapter
      await listener.onBars(chapter.bars)
    }
    this.#state = 'ended'
  }

  async *#chapters(wanted: ReadonlySet<string>): AsyncGenerator<Chapter> {
    let chapter: Chapter | null = null
    let said: Stamped[] = []
    for await (const record of this.#records()) {
      const event = wordOf(record)
      if (event === null) continue
      if (event.type !== 'market.bar.v1') {
        if (chapter !== null && said.length === 0 && isSaidAt(chapter, event)) chapter.after.push(event)
        else said.push(event)
        continue
      }
      const bar = barOf(event)
      if (!wanted.has(canonicalSymbol(bar.symbol))) continue
      if (chapter !== null && chapter.bars[0]?.close_ts !== bar.close_ts) {
        yield chapter
        chapter = null
      }
      if (chapter === null) {
        chapter = { bars: [], before: said, after: [] }
        said = []
      }
      chapter.bars.push(bar)
    }
    if (chapter !== null) yield chapter
  }

  async *#records(): AsyncGenerator<LogRecord> {
    let after = 0
    for (;;) {
      const page = await this.#log.read({ after, types: FROM_OUTSIDE, order: 'asc', limit: PAGE_EVENTS })
      yield* page
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE_EVENTS) return
      after = last.seq
    }
  }
}

/** Everything that the engine was told, and nothing that it concluded. */
const FROM_OUTSIDE = [
  'market.bar',
  'signal',
  'attribution.recorded',
  'contributor',
  'producer',
  'learning.feedback',
] as const

const PAGE_EVENTS = 1000

const isSaidAt = ({ bars: [first] }: Chapter, { recordedAt }: Stamped): boolean =>
  first !== undefined && Date.parse(recordedAt) <= Date.parse(first.close_ts) + AFTER_MS

const barOf = ({ payload }: Stamped): FeedBar => {
  const { feed: _feed, ...bar } = payload as unknown as FeedBar & { readonly feed: string }
  return bar
}

/** Null for what was damaged: verification tells of it. */
const wordOf = (record: LogRecord): Stamped | null => {
  try {
    const event = stampedFrom(record)
    return isSound(event) ? event : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
