import type { FeedBar } from '../../../core/market/bar.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, FeedStatus } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import { createComplaints, type Complaints } from './complaints.ts'
import type { FileBar } from './file-bar.ts'
import { inOrder, type PlacedBar } from './merge.ts'
import { createPace } from './pace.ts'
import type { TimeGroup } from './reorder-window.ts'
import type { Scan } from './scan.ts'

interface ReplayDependencies {
  readonly path: string
  readonly speed: number
  readonly resolutionSeconds: number
  readonly scan: Scan
  readonly from: FeedStart
  readonly timer: Timer
  readonly listener: FeedListener
  readonly signal: AbortSignal
}

/** Tells the bars of a scanned file, oldest first, behind what is stored. */
export class Replay {
  readonly #parts: ReplayDependencies
  readonly #complaints: Complaints
  /** By canonical symbol: bars that open earlier are stored. */
  readonly #storedUntilMs: ReadonlyMap<string, number>
  #running: Promise<void> = Promise.resolve()
  #state: FeedStatus['state'] = 'running'
  #lastBarAtMs: number | null = null
  #trouble: string | null = null

  constructor(parts: ReplayDependencies) {
    this.#parts = parts
    this.#complaints = createComplaints((message) => parts.listener.onError(message), parts.path)
    this.#storedUntilMs = new Map(
      [...parts.from.lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), Date.parse(bar.close_ts)]),
    )
  }

  begin(): void {
    this.#running = this.#run()
  }

  ended(): Promise<void> {
    return this.#running
  }

  status(): FeedStatus {
    return {
      state: this.#trouble !== null && this.#state === 'running' ? 'troubled' : this.#state,
      lastBarAtMs: this.#lastBarAtMs,
      clockOffsetMs: null,
      trouble: this.#trouble,
    }
  }

  async #run(): Promise<void> {
    try {
      await this.#tellAll()
    } catch (error) {
      // The file went away or the disk fails: nothing more can be told, and the operator is told why.
      this.#say(`the replay ended early: ${messageOf(error)}`)
      return
    }
    this.#complaints.end()
    this.#state = 'ended'
  }

  async #tellAll(): Promise<void> {
    const { path, scan, speed, timer, signal, resolutionSeconds } = this.#parts
    const pace = createPace(speed)
    for await (const group of inOrder(path, scan.format, scan.runs)) {
      if (signal.aborted) return
      const bars = this.#freshBars(group)
      if (bars.length === 0) continue
      const closeMs = group.ms + resolutionSeconds * 1000
      const waitMs = pace.waitMs(closeMs, timer.now())
      // Even a wait of nothing takes a millisecond, more than a bar has at high speed.
      if (waitMs > 0) await timer.wait(waitMs, signal)
      await this.#tell(bars, closeMs)
    }
  }

  /** What is not stored yet, each symbol once. */
  #freshBars({ ms, items }: TimeGroup<PlacedBar>): readonly FeedBar[] {
    const { resolutionSeconds } = this.#parts
    const fresh = items.filter(
      ({ bar }) => ms >= (this.#storedUntilMs.get(canonicalSymbol(bar.symbol)) ?? Number.NEGATIVE_INFINITY),
    )
    const [first] = fresh
    if (first === undefined) return []
    if (ms % (resolutionSeconds * 1000) !== 0) {
      this.#complaints.add(first.line, `${textOf(ms)} is not on the grid of ${resolutionSeconds} seconds`)
      return []
    }
    return this.#onceEach(fresh).map((bar) => barOf(bar, ms, resolutionSeconds))
  }

  #onceEach(placed: readonly PlacedBar[]): readonly FileBar[] {
    const bySymbol = new Map<string, PlacedBar>()
    for (const one of placed) {
      const earlier = bySymbol.get(one.bar.symbol)
      if (earlier === undefined) bySymbol.set(one.bar.symbol, one)
      else if (!isSame(earlier.bar, one.bar)) {
        this.#complaints.add(one.line, `${one.bar.symbol}: differs from line ${earlier.line}, which counts`)
      }
    }
    return [...bySymbol.values()].map(({ bar }) => bar)
  }

  /** Until they are stored: a bar that is lost would be a hole for ever. */
  async #tell(bars: readonly FeedBar[], closeMs: number): Promise<void> {
    const { listener, timer, signal } = this.#parts
    while (!signal.aborted) {
      try {
        await listener.onBars(bars)
        this.#lastBarAtMs = closeMs
        this.#trouble = null
        return
      } catch (error) {
        this.#say(`bars are told again, as they were not stored: ${messageOf(error)}`)
        await timer.wait(RETRY_MS, signal)
      }
    }
  }

  /** Once per trouble, however often it is met. */
  #say(trouble: string): void {
    if (this.#trouble === trouble) return
    this.#trouble = trouble
    this.#parts.listener.onError(trouble)
  }
}

const RETRY_MS = 1000

const barOf = (bar: FileBar, openMs: number, resolutionSeconds: number): FeedBar => ({
  symbol: bar.symbol,
  resolution_s: resolutionSeconds,
  open_ts: textOf(openMs),
  close_ts: textOf(openMs + resolutionSeconds * 1000),
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  volume: bar.volume,
  quote_volume: bar.quote_volume,
  funding_annualized: bar.funding_annualized,
  basis_annualized: bar.basis_annualized,
  open_interest_usd: bar.open_interest_usd,
  bid_depth_usd: bar.bid_depth_usd,
  ask_depth_usd: bar.ask_depth_usd,
  fear_greed: bar.fear_greed,
  backfill: false,
})

const isSame = (one: FileBar, other: FileBar): boolean => JSON.stringify(one) === JSON.stringify(other)

const textOf = (ms: number): string => new Date(ms).toISOString()

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
