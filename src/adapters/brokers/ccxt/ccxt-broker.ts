import { setMaxListeners } from 'node:events'
import type { Broker } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { readAccount } from './account.ts'
import { contractOf } from './contracts.ts'
import type { BrokerCredentials } from './exchange.ts'
import { cancelOrder, lookupOrder } from './lookup.ts'
import { checkVenue, nothingPasses } from './preflight.ts'
import { submitOrder } from './submit.ts'
import { openVenue, type Venue } from './venue.ts'

export interface CcxtBrokerDependencies {
  /** As the library names it: `binanceusdm`; with `-sandbox` behind it, where the venue lets people practise. */
  readonly exchange: string
  readonly credentials: BrokerCredentials
  /** The most that positions may have: whether the account is large enough for the smallest orders depends on it. */
  readonly leverageMax: number
  readonly timer: Timer
  /** Instead of the venue's own hosts, each of which becomes the first part of a path here. */
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
  /** In which one request of weight 1 is sent; as the library knows the venue, unless told. */
  readonly rateLimitMs?: number
}

/** A real venue. Nothing is loaded or asked before the first call; no call rejects. */
export const createCcxtBroker = (parts: CcxtBrokerDependencies): Broker => {
  const abort = new AbortController()
  // Every request that is under way listens: many of them are no leak.
  setMaxListeners(0, abort.signal)
  let opening: Promise<Opened> | null = null
  let venue: Venue | null = null
  let universe: readonly string[] = []

  const open = (): Promise<Opened> => {
    opening ??= openVenue({
      exchangeId: parts.exchange,
      credentials: parts.credentials,
      timer: parts.timer,
      baseUrl: parts.baseUrl,
      requestTimeoutMs: parts.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      rateLimitMs: parts.rateLimitMs,
      signal: abort.signal,
    }).then(
      (opened): Opened => {
        venue = opened
        return { status: 'open', venue: opened }
      },
      (error: unknown): Opened => ({
        status: 'failed',
        reason: error instanceof Error ? error.message : String(error),
      }),
    )
    return opening
  }

  return {
    name: `ccxt:${parts.exchange}`,
    preflight: async (symbols) => {
      universe = symbols
      const opened = await open()
      return opened.status === 'open'
        ? checkVenue(opened.venue, symbols, parts.leverageMax)
        : nothingPasses(opened.reason)
    },
    stepsOf: (symbol) => {
      const contract = venue === null ? null : contractOf(venue.contracts(), symbol)
      return contract?.isActive === true ? contract.steps : null
    },
    submit: async (order) => {
      const opened = await open()
      return opened.status === 'open'
        ? submitOrder(opened.venue, order)
        : { status: 'rejected', reason: opened.reason }
    },
    cancel: async (order) => {
      const opened = await open()
      return opened.status === 'open'
        ? cancelOrder(opened.venue, order)
        : { status: 'unclear', reason: opened.reason }
    },
    lookup: async (order) => {
      const opened = await open()
      return opened.status === 'open'
        ? lookupOrder(opened.venue, order)
        : { status: 'unclear', reason: opened.reason }
    },
    account: async () => {
      const opened = await open()
      return opened.status === 'open' ? readAccount(opened.venue, universe) : null
    },
    close: async () => {
      abort.abort()
      await opening
    },
  }
}

type Opened =
  | { readonly status: 'open'; readonly venue: Venue }
  | { readonly status: 'failed'; readonly reason: string }

const REQUEST_TIMEOUT_MS = 10_000
