import type { Sha256Hex } from '../../../core/log/hash-chain.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, FeedStatus, MarketFeed } from '../../../ports/market-feed.ts'
import type { Timer } from '../../../ports/timer.ts'
import type { MarketSettings } from './constants.ts'
import { createDraws } from './draws.ts'
import { hiddenSymbolsOf, simulatedProducers, type Background } from './producers.ts'
import { planStart } from './start-plan.ts'
import { createPath } from './step.ts'
import { Walker } from './walker.ts'

interface SimulatedFeedDependencies {
  readonly settings: MarketSettings
  readonly timer: Timer
  readonly sha256Hex: Sha256Hex
}

/** A market of its own: seeded, in real time, the same for everyone who asks for it again. */
export const createSimulatedFeed = (parts: SimulatedFeedDependencies): MarketFeed => {
  let background: Background | null = null
  let walker: Walker | null = null
  let stopped = false
  return {
    name: 'simulated',
    producers: simulatedProducers(() => background),
    start: async (from, listener) => {
      if (walker !== null || stopped) throw new Error('the feed was already started: create a new one')
      const lastBars = new Map([...from.lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), bar]))
      const plan = planStart({
        nowMs: parts.timer.now(),
        barSeconds: parts.settings.bar_seconds,
        warmupHours: parts.settings.warmup_hours,
        lastCloseMs: newestCloseMs(lastBars),
      })
      walker = new Walker(
        walkOf(parts, from, lastBars, listener, (next) => (background = next)),
        plan,
      )
      await walker.start(plan)
    },
    status: () => walker?.status() ?? (stopped ? STOPPED : IDLE),
    stop: async () => {
      stopped = true
      await walker?.stop()
    },
  }
}

const IDLE: FeedStatus = { state: 'idle', lastBarAtMs: null, clockOffsetMs: null, error: null }
const STOPPED: FeedStatus = { ...IDLE, state: 'stopped' }

const walkOf = (
  { settings, timer, sha256Hex }: SimulatedFeedDependencies,
  { symbols, segment }: FeedStart,
  lastBars: ReadonlyMap<string, FeedBar>,
  listener: FeedListener,
  onBackground: (background: Background) => void,
) => {
  const path = createPath({ settings, segment, symbols, lastBars, sha256Hex })
  const drawsOf = (stream: string) => createDraws(settings.seed, segment, stream, sha256Hex)
  return {
    tickSeconds: settings.tick_seconds,
    barSeconds: settings.bar_seconds,
    path,
    timer,
    listener,
    onClose: () => onBackground({ symbols: hiddenSymbolsOf(path), drawsOf }),
  }
}

const newestCloseMs = (bars: ReadonlyMap<string, FeedBar>): number | null => {
  let newestMs: number | null = null
  for (const { close_ts } of bars.values()) newestMs = Math.max(newestMs ?? 0, Date.parse(close_ts))
  return newestMs
}
