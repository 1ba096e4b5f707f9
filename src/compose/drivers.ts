import type { Configuration } from '../core/config/schema.ts'
import type { Engine } from '../engine/engine.ts'
import { leaseFaultOf } from '../engine/lease-fault.ts'
import { leadingEngine, type LeadingEngine } from '../engine/leading-engine.ts'
import type { Leadership, Lease } from '../ports/leadership.ts'
import { openMarket, type MarketDependencies, type NamedFeedStatus } from './market.ts'
import { liveBlockers } from '../core/trading/venue/destination.ts'
import { openPositionsOf } from '../core/trading/positions/book.ts'
import type { State } from '../core/state.ts'
import { isoNow } from '../engine/iso-now.ts'
import { openElsewhere, unroutedSentence } from '../core/trading/venue/unrouted.ts'
import { OrderRouter } from '../engine/orders/order-router.ts'
import { openBroker } from './broker.ts'
import { Closers, opening } from './environment.ts'

export interface DriverDependencies extends MarketDependencies {
  readonly engine: Engine
  readonly leadership: Leadership
  /** Called with secrets that logs must not show from now on. */
  readonly onSecrets: (secrets: readonly string[]) => void
  /** Opens the venue of orders. Default: the venue of the settings. The simulator has its own. */
  readonly openBroker?: typeof openBroker
}

export interface Drivers {
  /** The status of this process's feed; null without one. */
  feedStatus(): NamedFeedStatus | null
  /** True if this process leads. */
  leads(): boolean
  /** Hands leadership over to another process at once. */
  close(): Promise<void>
}

/** Wait before the next attempt if feeds or order routing could not be started. */
const START_AGAIN_MS = 2000
/** Number of times that a standby checks the lease within the time in which a leader must be replaced. */
const LOOKS = 10

/**
 * Runs feeds, schedule and order routing in the process that leads. Resolves when it is known whether this process
 * leads.
 */
export const openDrivers = async (dependencies: DriverDependencies): Promise<Drivers> => {
  const { timer, logger, leadership, engine, configuration } = dependencies
  const closing = new AbortController()
  let driven: Driven | null = null
  let isReported = false

  /** Returns the time to wait before the next attempt. */
  const attempt = async (): Promise<number> => {
    const lookMs = (configuration().store.lease_seconds * 1000) / LOOKS
    let pauseMs = lookMs
    try {
      const lease = await leadership.tryToLead(engine.state.trading.leaderToken)
      if (lease === null) return lookMs
      await refuseDamaged(lease, engine.state.trading.leaderToken)
      pauseMs = START_AGAIN_MS
      driven = await drive(dependencies, lease)
      isReported = false
      logger.info(`this process is leader ${lease.token}: feeds and order routing run here`)
    } catch (error) {
      // Reported once, not with every attempt.
      if (!isReported) logger.error('could not start feeds and order routing in this process', { error })
      isReported = true
    }
    return pauseMs
  }
  const keepTrying = async (firstPauseMs: number): Promise<void> => {
    let pauseMs = firstPauseMs
    if (driven === null) logger.info('standby: another process is the leader')
    while (!closing.signal.aborted) {
      if (driven !== null) {
        await Promise.race([driven.lost, aborted(closing.signal)])
        if (!closing.signal.aborted)
          logger.warn('leadership lost: feeds and order routing stop in this process')
        const ended: Driven = driven
        driven = null
        await ended.stop()
      }
      await timer.wait(pauseMs, closing.signal)
      if (!closing.signal.aborted) pauseMs = await attempt()
    }
    // This process may have become leader while it was being closed.
    await driven?.stop()
  }

  const running = keepTrying(await attempt())
  return {
    feedStatus: () => driven?.feedStatus() ?? null,
    leads: () => driven?.isLeading() ?? false,
    close: async () => {
      closing.abort()
      await running
      await leadership.close()
    },
  }
}

/** Refuses a damaged token. Signed into the log, it would prevent any later leader. */
const refuseDamaged = async (lease: Lease, recorded: number): Promise<void> => {
  const fault = leaseFaultOf({ token: lease.token, endsInMs: 0 }, recorded)
  if (fault === null) return
  await lease.release()
  throw new Error(`${fault}: run "svc doctor --repair"`)
}

interface Driven {
  /** Resolves when another process leads. */
  readonly lost: Promise<void>
  isLeading(): boolean
  feedStatus(): NamedFeedStatus | null
  stop(): Promise<void>
}

const drive = async (dependencies: DriverDependencies, lease: Lease): Promise<Driven> => {
  const { logger } = dependencies
  const closers = new Closers()
  closers.add(() => lease.release())
  const fenced = new AbortController()
  const engine = leadingEngine(dependencies.engine, lease.token, () => fenced.abort())
  const stop = async (): Promise<void> => {
    // The lease is given back whatever fails here.
    for (let isClosed = false; !isClosed;) {
      try {
        await closers.closeAll()
        isClosed = true
      } catch (error) {
        logger.warn('could not stop feeds or order routing properly', { error })
      }
    }
  }
  try {
    // Events of the previous leader are stored before this one, or not at all.
    await engine.execute({ kind: 'record-leader', token: lease.token })
    // Orders first: open orders are looked up before prices can lead to new ones.
    const trading = await openTrading({ ...dependencies, engine }, () => lease.isValid())
    closers.add(() => trading.close())
    const market = await openMarket({ ...dependencies, engine })
    closers.add(() => market.close())
    return {
      lost: Promise.race([lease.ended, aborted(fenced.signal)]),
      isLeading: () => lease.isValid(),
      feedStatus: () => market.feedStatus(),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

/**
 * Routes orders to the configured venue. Without a venue or its keys the service runs, sends no orders and logs the
 * reason.
 */
const openTrading = (
  dependencies: Omit<DriverDependencies, 'engine'> & { readonly engine: LeadingEngine },
  isLeading: () => boolean,
): Promise<{ close(): Promise<void> }> =>
  opening(async (closers) => {
    const { environment, engine, configuration, logger, timer, onSecrets } = dependencies
    const current = configuration()
    const { venue, mode } = current.execution
    for (const unrouted of openElsewhere(engine.state.trading, current.execution))
      logger.error(unroutedSentence(unrouted, current.execution))
    if (!isWanted(engine.state, current)) return nothingToClose(closers)
    if (venue === '') {
      logger.warn('no orders are sent: execution.mode is live, but execution.venue is empty')
      return nothingToClose(closers)
    }
    const opened = await (dependencies.openBroker ?? openBroker)(environment, current, timer, isLeading)
    if (opened.status === 'refused') {
      logger.error(`no orders are sent to ${venue}: ${opened.reason}`)
      // There is no further attempt before a restart.
      const detail = opened.check === 'keys' ? `${opened.reason}, then restart the service` : opened.reason
      const checks = [{ name: opened.check, ok: false, detail }]
      await engine.execute({ kind: 'record-venue-check', check: { venue, checks, symbols: [] } })
      return nothingToClose(closers)
    }
    onSecrets(opened.secrets)
    closers.add(() => opened.broker.close())
    const router = new OrderRouter({
      engine,
      broker: opened.broker,
      isLeading,
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

/** True also in paper mode, while orders or positions at the venue are open. */
const isWanted = (state: State, { execution: { mode, venue } }: Configuration): boolean =>
  mode === 'live' ||
  (venue !== '' &&
    (state.trading.orders.open.some((order) => order.venue === venue) ||
      openPositionsOf(state.trading).some(({ terms }) => terms.platform === venue)))

const nothingToClose = (closers: Closers): { close(): Promise<void> } => ({ close: () => closers.closeAll() })
