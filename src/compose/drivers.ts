import type { Configuration } from '../core/config/schema.ts'
import type { Engine } from '../engine/engine.ts'
import type { FeedStatus } from '../ports/market-feed.ts'
import type { Leadership, Lease } from '../ports/leadership.ts'
import type { Logger } from '../ports/logger.ts'
import type { Timer } from '../ports/timer.ts'
import { Closers } from './closers.ts'
import { openMarket } from './market.ts'
import { openTrading } from './trading.ts'
import type { Environment } from './environment.ts'

export interface DriverDependencies {
  readonly surroundings: Environment
  readonly engine: Engine
  readonly configuration: () => Configuration
  readonly logger: Logger
  readonly timer: Timer
  readonly leadership: Leadership
  /** What must never be shown from now on. */
  readonly onSecrets: (secrets: readonly string[]) => void
}

export interface Drivers {
  /** Of the feed that this process drives; null where it drives none. */
  feedStatus(): NamedFeedStatus | null
  close(): Promise<void>
}

export type NamedFeedStatus = FeedStatus & { readonly feed: string }

/** How soon a leader that is gone is replaced. */
const TRY_AGAIN_MS = 2000

/** What makes the engine move by itself, in the one process that leads. Resolves when it is known who does. */
export const openDrivers = async (parts: DriverDependencies): Promise<Drivers> => {
  const { timer, logger } = parts
  const closing = new AbortController()
  let driven: Driven | null = null

  const attempt = async (): Promise<void> => {
    try {
      const lease = await parts.leadership.tryToLead()
      if (lease !== null) driven = await drive(parts, lease)
    } catch (error) {
      logger.error('nobody drives prices and orders here', { error })
    }
  }
  const keepTrying = async (): Promise<void> => {
    if (driven === null) logger.info('another process drives prices and orders; this one waits')
    while (!closing.signal.aborted) {
      if (driven !== null) {
        await Promise.race([driven.lease.ended, aborted(closing.signal)])
        if (!closing.signal.aborted) logger.warn('another process may lead now: prices and orders stop here')
        const ended: Driven = driven
        driven = null
        await ended.stop()
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

const drive = async (parts: DriverDependencies, lease: Lease): Promise<Driven> => {
  const closers = new Closers()
  closers.add(() => lease.release())
  try {
    // Orders first: what was under way is looked up before prices can lead to new ones.
    const trading = await openTrading(parts)
    closers.add(() => trading.close())
    const market = await openMarket(parts)
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
