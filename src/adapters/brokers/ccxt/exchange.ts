import { isSandbox, SANDBOX } from '../../../core/shared/sandbox.ts'
import { canonicalSymbol } from '../../../core/shared/symbol.ts'
import type { Deadline } from '../../../ports/broker.ts'
import type { Timer } from '../../../ports/timer.ts'
import { createClockOffset } from '../../clock-offset.ts'
import { connect, loadCcxt, memberOf, redirectUrls } from '../../ccxt.ts'
import { contractsIn, type Contract, type Contracts } from './contracts.ts'
import { isClockRefusal, reasonOf, verdictOf, type BrokerCredentials } from './verdict.ts'

/** What the broker uses of the library. Responses are untrusted: numbers in them are text, and may be missing. */
export interface TradingApi {
  readonly has: Readonly<Record<string, unknown>>
  readonly rateLimit: number
  readonly precisionMode: number
  readonly urls: { api: unknown; readonly test?: unknown; readonly demo?: unknown }
  enableDemoTrading(enable: boolean): void
  setSandboxMode(enable: boolean): void
  readonly options: Record<string, unknown>
  number: (value: unknown) => unknown
  throttle: (cost: unknown) => Promise<void>
  milliseconds: () => number
  amountToPrecision: (market: string, amount: string) => string
  priceToPrecision: (market: string, price: string) => string
  loadMarkets(reload: boolean): Promise<unknown>
  fetchTime(): Promise<unknown>
  fetchTicker(market: string): Promise<unknown>
  fetchTickers(markets: readonly string[]): Promise<unknown>
  fetchBalance(): Promise<unknown>
  fetchPositions(): Promise<unknown>
  fetchPositionMode(market: string): Promise<unknown>
  setLeverage(leverage: number, market: string): Promise<unknown>
  fetchFundingHistory(market: undefined, sinceMs: number, limit: number): Promise<unknown>
  createOrder(
    market: string,
    type: 'limit' | 'market',
    side: 'buy' | 'sell',
    amount: string,
    price: string | undefined,
    params: Params,
  ): Promise<unknown>
  fetchOrder(id: string, market: string, params: Params): Promise<unknown>
  cancelOrder(id: string, market: string, params: Params): Promise<unknown>
  fetchMyTrades(market: string, sinceMs: undefined, limit: number, params: Params): Promise<unknown>
  fetchMyLiquidations(market: undefined, sinceMs: number, limit: number): Promise<unknown>
  /** The permissions of the key, where the exchange lists them. */
  sapiGetAccountApiRestrictions?(): Promise<unknown>
}

type Params = Readonly<Record<string, unknown>>

export type Reply<T> =
  | { readonly status: 'done'; readonly value: T }
  /** The exchange has not done it and will not. */
  | { readonly status: 'refused'; readonly code: string | null; readonly reason: string }
  /** It never arrived, or was turned away unread: it may be repeated later. */
  | { readonly status: 'not_sent'; readonly code: string | null; readonly reason: string }
  /** It may have been done. */
  | { readonly status: 'unclear'; readonly code: string | null; readonly reason: string }

export type FailedReply = Exclude<Reply<unknown>, { readonly status: 'done' }>

/** An open exchange, and what is known of it so far. */
export interface Exchange {
  readonly api: TradingApi
  /** Runs a call; never rejects. */
  readonly request: <T>(call: () => Promise<T>) => Promise<Reply<T>>
  /** Every request inside ends with the deadline, and none is sent after it. */
  readonly until: <T>(deadline: Deadline, run: () => Promise<T>) => Promise<T>
  /** How much longer the exchange asked to be left alone; null if it did not. */
  readonly heldBackMs: () => number | null
  /** Offset of the exchange's clock to ours, used in signatures from now on; null where the exchange has no time. */
  readonly measureClock: () => Promise<Reply<number | null>>
  /** Contracts known so far, by base. */
  readonly contracts: () => Contracts
  /** Loads the markets again. */
  reload(): Promise<Reply<Contracts>>
  /** By symbol of the configuration. Loads the markets on first use. */
  contractOf(symbol: string): Promise<Reply<Contract>>
  /** The exchange does not trade the symbol any more. */
  deactivate(symbol: string): void
  /** Only where it differs from what was set before. */
  setLeverage(market: string, leverage: number): Promise<Reply<unknown>>
}

export interface ExchangeOptions {
  /** As the library names it, with `-sandbox` after it for a practice account. */
  readonly exchange: string
  readonly credentials: BrokerCredentials
  readonly baseUrl?: string
  readonly requestTimeoutMs?: number
  readonly rateLimitMs?: number
  /** The exchange refuses requests that arrive later than this. */
  readonly acceptanceWindowMs?: number
  readonly maySend?: () => boolean
  readonly timer: Timer
  readonly signal: AbortSignal
}

/** Rejects only for what waiting does not fix: a wrong configuration, or a missing library. */
export const openExchange = async (options: ExchangeOptions): Promise<Exchange> => {
  const { exchange: id, timer, credentials } = options
  const limits = { ...options, burstMs: BURST_MS, waitMsMax: WAIT_MS_MAX }
  const { api, isRefusal, http, limiter } = await connect(limits, (settings) => loadApi(options, settings))
  const leverages = new Map<string, number>()
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
      status: verdictOf(outcome, isRefusal(error)),
      code: outcome.status === 'response' ? outcome.code : null,
      reason: reasonOf(error, outcome, credentials),
      isClockRefused: isClockRefusal(outcome),
    }
  }

  const measureClock = async (): Promise<Reply<number | null>> => {
    if (api.has['fetchTime'] !== true) return { status: 'done', value: null }
    for (let attempt = 1; ; attempt += 1) {
      const sentMs = timer.now()
      const reply = await requestOnce(async () => {
        const theirMs = Number(await api.fetchTime())
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
    // Refused for its timestamp, so nothing was done: it may be repeated with the right time.
    await measureClock()
    return requestOnce(call)
  }

  const reload = async (): Promise<Reply<Contracts>> => {
    const reply = await request(async () => {
      const loaded = contractsIn(await api.loadMarkets(true))
      if (loaded === null) throw new Error('the exchange lists no perpetual that is settled in dollars')
      return loaded
    })
    if (reply.status === 'done') contracts = reply.value
    return reply
  }

  return {
    api,
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
    deactivate: (symbol) => {
      const base = canonicalSymbol(symbol)
      const contract = known().get(base)
      if (contract !== undefined) contracts = new Map(known()).set(base, { ...contract, isActive: false })
    },
    setLeverage: async (market, wanted) => {
      // Exchanges take whole numbers. Never more than was decided: more brings the liquidation nearer.
      const leverage = Math.max(1, Math.floor(wanted))
      if (leverages.get(market) === leverage || api.has['setLeverage'] !== true)
        return { status: 'done', value: null }
      const reply = await request(() => api.setLeverage(leverage, market))
      if (reply.status === 'done') leverages.set(market, leverage)
      else leverages.delete(market)
      return reply
    },
  }
}

const CLOCK_ATTEMPTS = 3
/** Stops of many positions may have to be sent at once; exchanges allow a minute's worth. */
const BURST_MS = 10_000
/** An order that waits longer would be filled at another price: it is not sent, and the caller decides again. */
const WAIT_MS_MAX = 5000
const ACCEPTANCE_WINDOW_MS = 5000

export const loadApi = async (options: Omit<ExchangeOptions, 'signal'>, settings: object = {}) => {
  const library = await loadCcxt()
  const { exchange: name, baseUrl, acceptanceWindowMs = ACCEPTANCE_WINDOW_MS } = options
  const id = libraryIdOf(name)
  const Api = memberOf(library, id)
  if (!library.exchanges.includes(id) || typeof Api !== 'function') {
    throw new Error(`execution.venue: ${name || '(empty)'} is not an exchange that ccxt knows`)
  }
  const api = new (Api as new (settings: object) => TradingApi)({
    ...options.credentials,
    ...settings,
    // Currencies need permissions that a trading key may lack. The library must never retry. An order that arrives
    // after the window is refused, so it cannot turn up after it was not found.
    options: { fetchCurrencies: false, maxRetriesOnFailure: 0, recvWindow: acceptanceWindowMs },
  })
  if (api.precisionMode !== library.TICK_SIZE)
    throw new Error(`execution.venue: ${name} is not supported, as it reports no price and quantity steps`)
  api.number = String
  api.milliseconds = () => options.timer.now()
  // Amounts and prices are already on the exchange's steps, in the safe direction: the library would round them.
  api.amountToPrecision = (_, amount) => amount
  api.priceToPrecision = (_, price) => price
  if (baseUrl !== undefined) api.urls.api = redirectUrls(api.urls.api, baseUrl)
  else if (id !== name) enableSandbox(api, id)
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

const libraryIdOf = (name: string): string => (isSandbox(name) ? name.slice(0, -SANDBOX.length) : name)

/** Where the library reads funding payments, and they are known to add up. */
export const reportsFunding = (name: string): boolean => libraryIdOf(name) === 'binanceusdm'

/** Where the library can look an order up by client order id. */
export const findsByClientOrderId = (name: string): boolean => libraryIdOf(name) === 'binanceusdm'
