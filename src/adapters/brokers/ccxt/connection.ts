import type { Timer } from '../../../ports/timer.ts'
import { createBudget, type Budget } from './budget.ts'
import { contractsIn, type Contracts } from './contracts.ts'
import { openExchange, type BrokerCredentials, type Exchange } from './exchange.ts'
import { createReasons } from './reasons.ts'
import { isClockRefusal, verdictOf, type Outcome } from './verdict.ts'
import { createWire } from './wire.ts'

/** A venue that can be asked; nothing was asked yet. */
export interface Connection {
  readonly exchange: Exchange
  /** Never rejects. */
  readonly ask: <T>(call: () => Promise<T>) => Promise<Reply<T>>
  /** Reads the list of markets again, or for the first time. */
  readonly loadContracts: () => Promise<Reply<Contracts>>
  /** Clock of the venue minus ours, which signatures are made by from now on; null where the venue tells no time. */
  readonly measureClock: () => Promise<Reply<number | null>>
}

export type Reply<T> =
  | { readonly status: 'done'; readonly value: T }
  /** The venue has not done it and will not. */
  | { readonly status: 'refused'; readonly code: string | null; readonly reason: string }
  /** It may have been done. */
  | { readonly status: 'unclear'; readonly code: string | null; readonly reason: string }

export interface ConnectionOptions {
  readonly exchangeId: string
  readonly credentials: BrokerCredentials
  readonly baseUrl: string | undefined
  readonly requestTimeoutMs: number
  readonly rateLimitMs: number | undefined
  readonly timer: Timer
  readonly signal: AbortSignal
}

/** Rejects for what no waiting mends. */
export const openConnection = async (options: ConnectionOptions): Promise<Connection> => {
  const { timer, signal, credentials } = options
  // Known only when the exchange is, which needs a way to the network first.
  let budget: Budget | null = null
  const wire = createWire({
    signal,
    timer,
    timeoutMs: options.requestTimeoutMs,
    onLeaveAlone: (waitMs) => budget?.hold(waitMs),
  })
  const { exchange, isRefusal, tellsSteps } = await openExchange({
    ...options,
    id: options.exchangeId,
    fetch: wire.fetch,
  })
  if (!tellsSteps) throw new Error(`execution.venue: ${options.exchangeId} does not tell its steps`)
  const opened = createBudget({ timer, signal, rateLimitMs: options.rateLimitMs ?? exchange.rateLimit })
  budget = opened
  exchange.throttle = (cost) => opened.take(Number(cost ?? 1))
  const reasonOf = createReasons(credentials)

  const askOnce = async <T>(call: () => Promise<T>): Promise<Reply<T> & { readonly isLate?: boolean }> => {
    const watched = await wire.watch(call)
    if (watched.status === 'done') return watched
    const { error, outcome } = watched
    return {
      status: verdictOf(outcome, isRefusal(error)),
      code: codeOf(outcome),
      reason: reasonOf(error, outcome),
      isLate: isClockRefusal(outcome),
    }
  }

  const measureClock = async (): Promise<Reply<number | null>> => {
    if (exchange.has['fetchTime'] !== true) return { status: 'done', value: null }
    const sentMs = timer.now()
    const reply = await askOnce(async () => {
      const venueMs = Number(await exchange.fetchTime())
      if (!Number.isFinite(venueMs) || venueMs <= 0) throw new Error('the venue told no time')
      return venueMs
    })
    if (reply.status !== 'done') return reply
    const offsetMs = Math.round(reply.value - (sentMs + timer.now()) / 2)
    exchange.options['timeDifference'] = -offsetMs
    return { status: 'done', value: offsetMs }
  }

  const ask = async <T>(call: () => Promise<T>): Promise<Reply<T>> => {
    const first = await askOnce(call)
    if (first.isLate !== true) return first
    // Refused for its time, so nothing was done: it may be asked again when the time is right.
    await measureClock()
    return askOnce(call)
  }

  return {
    exchange,
    ask,
    measureClock,
    loadContracts: () =>
      ask(async () => {
        const contracts = contractsIn(await exchange.loadMarkets(true))
        if (contracts === null) throw new Error('the venue lists no perpetual that is settled in dollars')
        return contracts
      }),
  }
}

const codeOf = (outcome: Outcome): string | null => (outcome.status === 'answered' ? outcome.code : null)
