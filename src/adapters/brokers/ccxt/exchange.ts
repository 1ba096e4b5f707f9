import { isSandbox } from '../../../core/shared/sandbox.ts'
import { supportedVenue, unsupportedVenue, type SupportedVenue } from '../../../core/shared/venues.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { Deadline } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { createClockOffset } from '../../clock-offset.ts'
import { connect, loadCcxt, memberOf, redirectUrls } from '../../ccxt.ts'
import type { TradingApi } from './api.ts'
import { contractsIn, type Contract, type Contracts } from './contracts.ts'
import { DIALECTS } from './dialects/all.ts'
import type { Dialect } from './dialects/dialect.ts'
import {
  isClockRefusal,
  reasonOf,
  failureClassOf,
  type BrokerCredentials,
  type FailureClass,
} from './request-failure.ts'

export type Reply<T> = { readonly status: 'done'; readonly value: T } | FailedReply

export interface FailedReply {
  readonly status: FailureClass
  /** The error code of the exchange, or null if it stated none. */
  readonly code: string | null
  readonly reason: string
}

/** Whether a call failed with one of these codes. */
export const failedWith = ({ code }: FailedReply, codes: ReadonlySet<string>): boolean =>
  code !== null && codes.has(code)

/** An open exchange and its markets, as far as they are loaded. */
export interface Exchange {
  readonly api: TradingApi
  readonly venue: SupportedVenue
  readonly dialect: Dialect
  /** Runs a call; never rejects. */
  readonly request: <T>(call: () => Promise<T>) => Promise<Reply<T>>
  /** Every request inside ends at the deadline, and no request is sent after it. */
  readonly until: <T>(deadline: Deadline, run: () => Promise<T>) => Promise<T>
  /** Remaining pause that the exchange asked for, or null. */
  readonly heldBackMs: () => number | null
  /** Offset of the exchange's clock to ours, used in signatures from now on; null where the exchange has no time. */
  readonly measureClock: () => Promise<Reply<number | null>>
  /** Contracts known so far, by base. */
  readonly contracts: () => Contracts
  /** Loads the markets again. */
  reload(): Promise<Reply<Contracts>>
  /** Contract by symbol of the configuration. The first call loads the markets. */
  contractOf(symbol: string): Promise<Reply<Contract>>
  /** True if the exchange's markets are known and the symbol is not among them. */
  isUnlisted(symbol: string): boolean
  /** Marks a symbol that the exchange no longer trades. */
  deactivate(symbol: string): void
}

export interface ExchangeOptions {
  /** The library's name of the exchange, with `-sandbox` appended for a practice account. */
  readonly exchange: string
  readonly credentials: BrokerCredentials
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
  readonly rateLimitMs?: number
  readonly maySend?: () => boolean
  readonly timer: Timer
  readonly signal: AbortSignal
}

/** Rejects only for errors that waiting does not fix: a wrong configuration, or a missing library. */
export const openExchange = async (options: ExchangeOptions): Promise<Exchange> => {
  const { exchange: id, timer, credentials } = options
  const venue = supportedVenue(id)
  if (venue === null) throw new Error(unsupportedVenue(id))
  const dialect = DIALECTS[venue.id]
  const { codes, errorIn } = dialect
  const limits = { ...options, errorIn, burstMs: BURST_MS, waitMsMax: WAIT_MS_MAX }
  const { api, isRefusal, http, limiter } = await connect(limits, (settings) => loadApi(options, settings))
  const clock = createClockOffset()
  let contracts: Contracts | null = null
  const known = (): Contracts => contracts ?? new Map()

  const requestOnce = async <T>(
    call: () => Promise<T>,
  ): Promise<Reply<T> & { readonly isClockRefused?: boolean }> => {
    const result = await http.track(call)
    if (result.status === 'done') return result
    const { error, outcome } = result
    return {
      status: failureClassOf(outcome, isRefusal(error), codes),
      code: outcome.status === 'response' ? outcome.code : null,
      reason: reasonOf(error, outcome, credentials),
      isClockRefused: isClockRefusal(outcome, codes),
    }
  }

  const measureClock = async (): Promise<Reply<number | null>> => {
    for (let attempt = 1; ; attempt += 1) {
      const sentMs = timer.now()
      const reply = await requestOnce(async () => {
        const theirMs = Number(await dialect.time(api))
        if (!Number.isFinite(theirMs) || theirMs <= 0) throw new Error('the exchange returned no time')
        return theirMs
      })
      if (reply.status !== 'done') return reply
      const isGood = clock.add({ sentMs, receivedMs: timer.now(), theirMs: reply.value })
      const offsetMs = clock.offsetMs()
      if (isGood && offsetMs !== null) {
        api.options['timeDifference'] = -offsetMs
        return { status: 'done', value: offsetMs }
      }
      if (attempt === CLOCK_ATTEMPTS)
        return {
          status: 'unclear',
          code: null,
          reason: 'the exchange tells its time too slowly to be of use',
        }
    }
  }

  const request = async <T>(call: () => Promise<T>): Promise<Reply<T>> => {
    const first = await requestOnce(call)
    if (first.isClockRefused !== true) return first
    // The exchange refused the timestamp, so nothing was done. The request is repeated with the right time.
    await measureClock()
    return requestOnce(call)
  }

  const reload = async (): Promise<Reply<Contracts>> => {
    const reply = await request(async () => {
      const loaded = contractsIn(await api.loadMarkets(true), dialect.dollars)
      if (loaded === null) throw new Error('the exchange lists no perpetual that is settled in dollars')
      return loaded
    })
    if (reply.status === 'done') contracts = reply.value
    return reply
  }

  return {
    api,
    venue,
    dialect,
    request,
    until: (deadline, run) => http.until(deadline, run),
    heldBackMs: () => limiter.pausedMs() || null,
    measureClock,
    contracts: known,
    reload,
    contractOf: async (symbol) => {
      const loaded: Reply<Contracts> =
        contracts === null ? await reload() : { status: 'done', value: contracts }
      if (loaded.status !== 'done') return loaded
      const value = loaded.value.get(canonicalSymbol(symbol))
      if (value !== undefined) return { status: 'done', value }
      return { status: 'refused', code: null, reason: `${id} does not trade ${symbol}` }
    },
    isUnlisted: (symbol) => contracts !== null && !contracts.has(canonicalSymbol(symbol)),
    deactivate: (symbol) => {
      const base = canonicalSymbol(symbol)
      const contract = known().get(base)
      if (contract !== undefined) contracts = new Map(known()).set(base, { ...contract, isActive: false })
    },
  }
}

const CLOCK_ATTEMPTS = 3
/** Stops of many positions may have to be sent at once; exchanges allow a minute's worth. */
const BURST_MS = 10_000
/** An order that waits longer would be filled at another price: it is not sent, and the caller decides again. */
const WAIT_MS_MAX = 5000

export const loadApi = async (options: Omit<ExchangeOptions, 'signal'>, settings: object = {}) => {
  const { exchange: name, baseUrl } = options
  const venue = supportedVenue(name)
  if (venue === null) throw new Error(unsupportedVenue(name))
  const dialect = DIALECTS[venue.id]
  const library = await loadCcxt()
  const Api = memberOf(library, venue.id)
  if (typeof Api !== 'function') throw new Error(`execution.venue: ccxt has no ${venue.id}`)
  const api = new (Api as new (settings: object) => TradingApi)({
    ...options.credentials,
    ...settings,
    ...(dialect.api === undefined ? {} : { api: dialect.api }),
    // The library must never retry. An order that arrives after the window is refused, so it cannot turn up after it
    // was not found.
    options: {
      ...dialect.options,
      fetchCurrencies: false,
      maxRetriesOnFailure: 0,
      recvWindow: venue.acceptanceWindowMs,
    },
  })
  if (api.precisionMode !== library.TICK_SIZE)
    throw new Error(`execution.venue: ${name} is not supported, as it reports no price and quantity steps`)
  // Currencies need permissions that a trading key may lack.
  api.has['fetchCurrencies'] = false
  api.number = String
  api.milliseconds = () => options.timer.now()
  // Amounts and prices are already on the exchange's steps, in the safe direction: the library would round them.
  api.amountToPrecision = (_, amount) => amount
  api.priceToPrecision = (_, price) => price
  dialect.prepare?.(api)
  if (isSandbox(name)) enableSandbox(api, venue.id)
  if (baseUrl !== undefined) api.urls.api = redirectUrls(api.urls.api, baseUrl)
  const refusals = [
    library.InvalidOrder,
    library.InsufficientFunds,
    library.AuthenticationError,
    library.BadRequest,
  ]
  const isRefusal = (error: unknown): boolean =>
    refusals.some((kind) => error instanceof kind) && !(error instanceof library.DuplicateOrderId)
  return { api, isRefusal }
}

/** Some exchanges offer a demo of their real markets, others a separate test network. */
const enableSandbox = (api: TradingApi, id: string): void => {
  if (api.urls.demo !== undefined) api.enableDemoTrading(true)
  else if (api.urls.test !== undefined) api.setSandboxMode(true)
  else throw new Error(`execution.venue: ${id} has no sandbox`)
}
