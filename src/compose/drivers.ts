import type { Configuration } from '../core/config/schema.ts'
import type { Engine } from '../engine/engine.ts'
import type { FeedStatus } from '../ports/market-feed.ts'
import type { Leadership, Lease } from '../ports/leadership.ts'
import type { Logger } from '../ports/logger.ts'
import type { Timer } from '../ports/timer.ts'
import { openMarket, type OpenFeed } from './market.ts'
import { liveBlockers } from '../core/trading/destination.ts'
import { openPositionsOf } from '../core/trading/book.ts'
import type { State } from '../core/state.ts'
import { isoNow } from '../engine/iso-now.ts'
import { OrderRouter } from '../engine/orders/order-router.ts'
import { openBroker } from './broker.ts'
import { Closers, opening, type Environment } from './environment.ts'

export interface DriverDependencies {
  readonly environment: Environment
  readonly engine: Engine
  readonly configuration: () => Configuration
  readonly logger: Logger
  readonly timer: Timer
  readonly leadership: Leadership
  /** Called with secrets that logs must not show from now on. */
  readonly onSecrets: (secrets: readonly string[]) => void
  /** Where prices come from and orders go; by default what the settings name. The simulator has its own. */
  readonly openFeed?: OpenFeed
  readonly openBroker?: typeof openBroker
}

export interface Drivers {
  /** The status of this process's feed; null without one. */
  feedStatus(): NamedFeedStatus | null
  close(): Promise<void>
}

export type NamedFeedStatus = FeedStatus & { readonly feed: string }

/** How soon a leader that ended is replaced. */
const TRY_AGAIN_MS = 2000

/** Runs feeds, schedule and order routing in the process that leads. Resolves when it is known which one does. */
export const openDrivers = async (dependencies: DriverDependencies): Promise<Drivers> => {
  const { timer, logger, leadership } = dependencies
  const closing = new AbortController()
  let driven: Driven | null = null

  const attempt = async (): Promise<void> => {
    try {
      const lease = await leadership.tryToLead()
      if (lease !== null) driven = await drive(dependencies, lease)
    } catch (error) {
      logger.error('could not start feeds and order routing in this process', { error })
    }
  }
  /** With the lease the store may be away: what cannot be recorded then must not end the process. */
  const stopped = async (ended: Driven): Promise<void> => {
    try {
      await ended.stop()
    } catch (error) {
      logger.error('could not stop feeds and order routing in order', { error })
    }
  }
  const keepTrying = async (): Promise<void> => {
    if (driven === null) logger.info('standby: another process is the leader')
    while (!closing.signal.aborted) {
      if (driven !== null) {
        await Promise.race([driven.lease.ended, aborted(closing.signal)])
        if (!closing.signal.aborted)
          logger.warn('leadership lost: feeds and order routing stop in this process')
        const ended: Driven = driven
        driven = null
        await stopped(ended)
      }
      await timer.wait(TRY_AGAIN_MS, closing.signal)
      if (!closing.signal.aborted) await attempt()
    }
  }

  await attempt()
  const running = keepTrying()
  return {
    feedStatus: () => driven?.feedStatus() ?? null,
    close: async () => {
      closing.abort()
      await running
    },
  }
}

interface Driven {
  readonly lease: Lease
  feedStatus(): NamedFeedStatus | null
  stop(): Promise<void>
}

const drive = async (dependencies: DriverDependencies, lease: Lease): Promise<Driven> => {
  const closers = new Closers()
  closers.add(() => lease.release())
  try {
    // Orders first: open orders are looked up before prices can lead to new ones.
    const trading = await openTrading(dependencies)
    closers.add(() => trading.close())
    const market = await openMarket(dependencies)
    closers.add(() => market.close())
    return { lease, feedStatus: () => market.feedStatus(), stop: () => closers.closeAll() }
  } catch (error) {
    await closers.closeAll()
    throw error
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/** Order routing to the configured venue. Without a venue or its keys the service runs, sends no orders and logs why. */
const openTrading = (dependencies: DriverDependencies): Promise<{ close(): Promise<void> }> =>
  opening(async (closers) => {
    const { environment, engine, configuration, logger, timer, onSecrets } = dependencies
    const current = configuration()
    const { venue, mode } = current.execution
    if (!isWanted(engine.state, current)) return nothingToClose(closers)
    if (venue === '') {
      logger.warn('no orders are sent: execution.mode is live, but execution.venue is empty')
      return nothingToClose(closers)
    }
    const opened = await (dependencies.openBroker ?? openBroker)(environment, current, timer)
    if (opened.status === 'keys-missing') {
      logger.error(`no orders are sent to ${venue}: ${opened.reason}`)
      const checks = [{ name: 'keys', ok: false, detail: opened.reason }]
      await engine.execute({ kind: 'record-venue-check', check: { venue, checks, symbols: [] } })
      return nothingToClose(closers)
    }
    onSecrets(opened.secrets)
    closers.add(() => opened.broker.close())
    const router = new OrderRouter({
      engine,
      broker: opened.broker,
      venue,
      timer,
      configuration,
      onError: (what, error) => logger.warn(what, error === undefined ? {} : { error }),
    })
    await router.start()
    closers.add(() => router.close())
    const now = isoNow(environment.clock)
    const blockers = liveBlockers(engine.state, { now, configuration: current })
    logger.warn(`routing orders to ${venue}; execution.mode is ${mode}`, { held_back_by: blockers })
    return { close: () => closers.closeAll() }
  })

/** Also in paper mode while orders or positions at the venue are open. */
const isWanted = (state: State, { execution: { mode, venue } }: Configuration): boolean =>
  mode === 'live' ||
  (venue !== '' &&
    (state.trading.orders.open.some((order) => order.venue === venue) ||
      openPositionsOf(state.trading).some(({ terms }) => terms.platform === venue)))

const nothingToClose = (closers: Closers): { close(): Promise<void> } => ({ close: () => closers.closeAll() })
