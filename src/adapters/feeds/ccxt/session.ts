import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { FeedListener, FeedStart, FeedStatus } from '../../../ports/market-feed.ts'
import { backoffMs } from './backoff.ts'
import { createBarFollower, type Cursor } from './bar-follower.ts'
import { createDelivery } from './delivery.ts'
import { closeSockets } from './exchange.ts'
import { chooseMarkets, type Watched } from './markets.ts'
import { planPast } from './plan.ts'
import { createSideValues } from './side-values.ts'
import { followTicks } from './ticks.ts'
import { createErrorReports, type ErrorReports } from './errors.ts'
import { messageOf } from './values.ts'
import { createVenueClock, type VenueClock } from './venue-clock.ts'
import { openVenue, type Venue, type VenueOptions } from './venue.ts'

export interface SessionOptions extends Omit<VenueOptions, 'signal'> {
  readonly warmupHours: number
  readonly from: FeedStart
  readonly listener: FeedListener
}

/** A feed that was started, until everything of it is closed. */
export interface Session {
  /** Resolves when the past is told, or the venue turns out to be down. */
  readonly started: Promise<void>
  status(): FeedStatus
  stop(): Promise<void>
}

export const beginSession = (options: SessionOptions): Session => {
  const { timer, listener } = options
  const abort = new AbortController()
  const { signal } = abort
  const troubles = createErrorReports(listener, signal)
  const delivery = createDelivery({ listener, timer, signal, troubles })
  let venue: Venue | null = null
  let clock: VenueClock | null = null
  let isStopped = false

  const live = async (onStarted: () => void): Promise<void> => {
    venue = await openVenue({ ...options, signal })
    const { exchange, line, resolution, warmupResolution } = venue
    clock = createVenueClock({ exchange, line, timer, troubles })
    const watched = await connect(venue, { options, signal, troubles, onFailure: onStarted })
    const shared = { exchange, line, clock, timer, signal, listener, troubles }
    const sideValuesOf = createSideValues({ ...shared, isRefusal: venue.isRefusal })
    await clock.keep()
    const follower = createBarFollower(
      { ...shared, delivery, resolution, warmupResolution, sideValuesOf },
      cursorsOf(venue, clock.now(), watched, options),
    )
    await follower.catchUp()
    onStarted()
    const ticks = followTicks({ ...shared, barMs: options.barSeconds * 1000 }, watched)
    await Promise.all([follower.follow(), ticks])
  }

  let ended: Promise<void> = Promise.resolve()
  const started = new Promise<void>((resolve, reject) => {
    ended = live(resolve).then(resolve, (error: unknown) => {
      // Before the start it is the answer to it; afterwards nobody would hear of it but here.
      troubles.raise('broken', `the feed cannot go on: ${messageOf(error)}`)
      reject(error instanceof Error ? error : new Error(messageOf(error)))
    })
  })

  return {
    started,
    status: () => {
      const trouble = troubles.current()
      const running = trouble === null ? 'running' : 'troubled'
      return {
        state: isStopped ? 'stopped' : running,
        lastBarAtMs: delivery.lastBarAtMs(),
        clockOffsetMs: clock?.offsetMs() ?? null,
        trouble,
      }
    },
    stop: async () => {
      abort.abort()
      if (venue !== null) await closeSockets(venue.exchange)
      await ended
      isStopped = true
    },
  }
}

interface ConnectContext {
  readonly options: SessionOptions
  readonly signal: AbortSignal
  readonly troubles: ErrorReports
  readonly onFailure: () => void
}

/** Asks for the markets until the venue answers. */
const connect = async (
  { exchange, line }: Venue,
  { options, signal, troubles, onFailure }: ConnectContext,
): Promise<readonly Watched[]> => {
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      const { watched, missing } = await line.ask(async () =>
        // Always anew: the library keeps a first failure for good.
        chooseMarkets(await exchange.loadMarkets(true), options.from.symbols),
      )
      troubles.clear('markets')
      if (missing.length > 0) {
        troubles.tell(`${options.exchangeId} does not trade ${missing.join(', ')} against dollars`)
      }
      return watched
    } catch (error) {
      troubles.raise('markets', `${options.exchangeId} does not tell its markets: ${messageOf(error)}`)
      onFailure()
      await options.timer.wait(backoffMs(failures), signal)
    }
  }
  return []
}

const cursorsOf = (
  { warmupResolution }: Venue,
  nowMs: number,
  watched: readonly Watched[],
  { from, barSeconds, warmupHours }: SessionOptions,
): readonly Cursor[] => {
  const stored = new Map([...from.lastBars].map(([symbol, bar]) => [canonicalSymbol(symbol), bar]))
  return watched.map((entry) => {
    const last = stored.get(canonicalSymbol(entry.symbol))
    const plan = planPast({
      nowMs,
      barMs: barSeconds * 1000,
      lastCloseMs: last === undefined ? null : Date.parse(last.close_ts),
      warmupHours,
      warmupBarMs: warmupResolution === null ? null : warmupResolution.seconds * 1000,
    })
    return { watched: entry, warmup: plan.warmup, nextMs: plan.nextMs }
  })
}
